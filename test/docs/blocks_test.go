package docs_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// typed is a command of a page, and what it prints; … stands for lines that are left out. Or it is a file that the page
// has its reader write.
type typed struct {
	file, text string

	command string
	printed []string
	// shown says that the page shows what the command prints.
	shown bool
}

// block is a fenced block of commands, sh or console with what they print, or of the file that the line before names.
type block struct {
	console bool
	file    string
	lines   []string
}

var (
	fence = regexp.MustCompile("^( *)```([a-z]*)$")
	named = regexp.MustCompile("`([a-z_-]+(?:/[a-z_-]+)+\\.(?:rego|json))`[^`]*:$")
)

// blocks returns those of a page.
func blocks(text string) (list []block) {
	var open *block
	indent, inside, before := "", false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		f := fence.FindStringSubmatch(line)
		switch {
		case f != nil && inside:
			if open != nil {
				list = append(list, *open)
			}
			open, inside = nil, false
		case f != nil:
			inside, indent = true, f[1]
			if file := named.FindStringSubmatch(before); file != nil && (f[2] == "rego" || f[2] == "json") {
				open = &block{file: file[1]}
			} else if f[2] == "sh" || f[2] == "console" {
				open = &block{console: f[2] == "console"}
			}
		case open != nil:
			open.lines = append(open.lines, strings.TrimPrefix(line, indent))
		case line != "":
			before = line
		}
	}
	return list
}

// commands returns the commands of a block, each with all of its lines, or the file.
func (b block) commands(t *testing.T) (commands []typed) {
	t.Helper()
	if b.file != "" {
		return []typed{{file: b.file, text: strings.Join(b.lines, "\n") + "\n"}}
	}
	begun := "" // the lines of a command that goes on
	for _, line := range b.lines {
		if b.console && begun == "" {
			command, is := strings.CutPrefix(line, "$ ")
			if !is && len(commands) > 0 {
				last := &commands[len(commands)-1]
				last.printed = append(last.printed, line)
			}
			if !is {
				continue
			}
			line = command
		}
		if begun += line; unfinished(begun) {
			begun += "\n"
			continue
		}
		if text := strings.TrimSpace(begun); text != "" && !strings.HasPrefix(text, "#") {
			commands = append(commands, typed{command: begun, shown: b.console})
		}
		begun = ""
	}
	if begun != "" {
		t.Errorf("a command that does not end: %s", begun)
	}
	return commands
}

// unfinished says whether a command goes on in the next line: after a backslash, or within quotes.
func unfinished(command string) bool {
	return strings.HasSuffix(command, `\`) || exec.Command("bash", "-n", "-c", command).Run() != nil
}
