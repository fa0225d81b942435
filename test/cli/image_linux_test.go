package cli_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// imageUser is who runs in the image.
const imageUser = 65532

// imageRoot is the file system of the image, as its Dockerfile says, and the variables that it sets.
type imageRoot struct {
	dir string
	env []string
}

// unpackImage makes the file system of the image: the program, the authorities and the folder for data, and nothing
// else.
func unpackImage(t *testing.T) imageRoot {
	t.Helper()
	raw := must.Get(os.ReadFile("../../cmd/portcullis/deploy/image/Dockerfile"))(t)
	_, stage, ok := strings.Cut(string(raw), "FROM scratch\n")
	user := strconv.Itoa(imageUser)
	if !ok || !strings.Contains(stage, "\nUSER "+user+":"+user+"\n") || !strings.Contains(stage, "\nVOLUME /data\n") || !strings.Contains(stage, `ENTRYPOINT ["/portcullis"]`) {
		t.Fatalf("the image is another one:\n%s", stage)
	}
	image := imageRoot{dir: t.TempDir()}
	for _, line := range regexp.MustCompile(`(?m)^COPY --from=build (--chown=\S+ )?(\S+) (\S+)$`).FindAllStringSubmatch(stage, -1) {
		target := filepath.Join(image.dir, line[3])
		switch line[3] {
		case "/portcullis":
			buildProgram(t, target)
		case "/data":
			must.Do(t, os.Mkdir(target, 0o700))
			if os.Geteuid() == 0 && line[1] != "" {
				must.Do(t, os.Chown(target, imageUser, imageUser))
			}
		}
	}
	env := regexp.MustCompile(`(?m)^ENV (.*)$`).FindStringSubmatch(stage)
	if env == nil {
		t.Fatal("the image sets no variables")
	}
	image.env = strings.Fields(env[1])
	must.Do(t, os.Chmod(image.dir, 0o755))
	return image
}

// buildProgram builds the program as the image does: it finds no library there.
func buildProgram(t *testing.T, target string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-o", target, "./cmd/portcullis")
	cmd.Dir, cmd.Env = "../..", append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	must.Do(t, os.Chmod(target, 0o755)) // for the image's user, under any umask
}

// command is the program in the image, in namespaces of its own for mounts, processes and names, under the image's
// user. Without root that takes a namespace of users, too.
func (i imageRoot) command(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command("/portcullis", args...)
	cmd.Dir, cmd.Env = "/", append(append([]string{}, i.env...), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot: i.dir, Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Credential: &syscall.Credential{Uid: imageUser, Gid: imageUser, NoSetGroups: os.Geteuid() != 0},
	}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: imageUser, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: imageUser, HostID: os.Getegid(), Size: 1}}
	}
	return cmd
}

// TestImageServesTheDemoAlone: its file system, unpacked, has all that the program needs, also to look after the store;
// its user may write /data and nothing else.
func TestImageServesTheDemoAlone(t *testing.T) {
	t.Parallel()
	tier.Check(t)
	image := unpackImage(t)
	loopback := []string{"PORTCULLIS_LISTEN=127.0.0.1:0", "PORTCULLIS_USERS_LISTEN=127.0.0.1:0", "PORTCULLIS_HEALTH_LISTEN=127.0.0.1:0", "PORTCULLIS_CONSOLE_LISTEN=127.0.0.1:0"}
	cmd := image.command(loopback, "serve", "--demo")
	stderr := must.Get(cmd.StderrPipe())(t)
	if err := cmd.Start(); err != nil {
		if os.Getenv("CI") != "true" && (errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC)) {
			t.Skipf("namespaces are not allowed here: %v", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	var where map[string]string
	lines := bufio.NewScanner(stderr)
	for where == nil && lines.Scan() {
		where = harness.ReadyLine(lines.Bytes())
	}
	if where == nil {
		t.Fatalf("it does not start: %v", cmd.Wait())
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()

	for _, args := range [][]string{
		{"health", "--health-listen", where["health_listen"]},
		{"store", "backup", "/data/a.backup"},
		{"store", "verify", "/data/a.backup"},
		{"store", "verify"},
		{"keys", "status"},
		{"check", "--url", "http://" + where["listen"], "--user", "user-alice-v1", "--account", "acct-demo-v1", "--action", "project:instance:read", "accounts/acct-demo-v1/projects/proj-demo-v1/instances"},
	} {
		if out, err := image.command(nil, args...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", args[0], err, out)
		}
	}
	if info, err := os.Stat(filepath.Join(image.dir, "data", "portcullis.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the store is not in /data: %v", err)
	}
	if out, err := image.command(nil, "serve", "--data-dir", "/elsewhere").CombinedOutput(); os.Geteuid() == 0 && (err == nil || !strings.Contains(string(out), "permission denied")) {
		t.Errorf("it writes outside of /data: %v\n%s", err, out)
	}
	must.Do(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}
