package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
)

// composeFile is as much of the compose file as can be wrong about this program.
type composeFile struct {
	Services map[string]composeService `yaml:"services"`
}

type composeService struct {
	Image       string
	Build       *struct{ Context, Dockerfile string }
	Command     []string
	Environment map[string]string
	Ports       []string
	Volumes     []string
	StopGrace   time.Duration                         `yaml:"stop_grace_period"`
	DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
	Healthcheck struct{ Test []string }
}

// deployDir has what installs the program.
const deployDir = "deploy"

// replicas is the compose file of three gateways, single that of one.
const (
	replicas = "compose/replicas/compose.yaml"
	single   = "compose/single/compose.yaml"
	image    = "image/Dockerfile"
)

func readCompose(t *testing.T, name string) (file composeFile, gateways []string) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(readText(t, name)), &file); err != nil {
		t.Fatal(err)
	}
	for name, s := range file.Services {
		if s.Build != nil {
			gateways = append(gateways, name)
		}
	}
	if want := map[string]int{replicas: 3, single: 1}[name]; len(gateways) != want {
		t.Fatalf("gateways are %v", gateways)
	}
	return file, gateways
}

func readText(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(deployDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestComposeFileSetsWhatServeKnows: each variable is a flag of serve with a value that
// fits, or what Go itself knows, together they start, and containers are stopped after the drain.
func TestComposeFileSetsWhatServeKnows(t *testing.T) {
	file, gateways := readCompose(t, replicas)
	for _, name := range gateways {
		service := file.Services[name]
		settings, flags := serveSettings()
		seen := map[string]bool{"GOMEMLIMIT": true}
		flags.VisitAll(func(f *pflag.Flag) { seen[config.EnvName(f.Name)] = true })
		for variable, value := range service.Environment {
			if !seen[variable] {
				t.Errorf("%s: serve does not know %s", name, variable)
			}
			t.Setenv(variable, value)
		}
		if err := settings.Fill(flags); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := refuse(settings.Validate()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if service.StopGrace <= settings.Limits.Delay+settings.Limits.Drain {
			t.Errorf("%s is killed after %s, and goes within %s", name, service.StopGrace, settings.Limits.Delay+settings.Limits.Drain)
		}
		if folder, mode, _ := strings.Cut(service.Volumes[0], ":"); folder != "keys" || !strings.HasPrefix(settings.Store.MasterKeyFile, strings.TrimSuffix(mode, ":ro")+"/") {
			t.Errorf("%s: the master key %s is not in the volume %s", name, settings.Store.MasterKeyFile, service.Volumes[0])
		}
	}
}

// TestComposeHealthcheckIsACommand of this program, under the name that the image gives it.
func TestComposeHealthcheckIsACommand(t *testing.T) {
	file, gateways := readCompose(t, replicas)
	entry := regexp.MustCompile(`(?m)^ENTRYPOINT \["(.*)"\]$`).FindStringSubmatch(readText(t, image))
	if entry == nil {
		t.Fatal("the image has no entry point")
	}
	for _, name := range gateways {
		test := file.Services[name].Healthcheck.Test
		if len(test) < 3 || test[0] != "CMD" || test[1] != entry[1] {
			t.Fatalf("%s: %q, and the image has %s", name, test, entry[1])
		}
		cmd, rest, err := newRoot().Find(test[2:])
		if err != nil || cmd.Name() != "health" {
			t.Fatalf("%s: %q is %s, %v", name, test, cmd.Name(), err)
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestComposePublishesTheProxyOnly, to this machine alone since it has no TLS, and neither its health nor the gateways'.
func TestComposePublishesTheProxyOnly(t *testing.T) {
	file, gateways := readCompose(t, replicas)
	for name, s := range file.Services {
		if (len(s.Ports) > 0) != (name == "proxy") {
			t.Errorf("%s publishes %v", name, s.Ports)
		}
	}
	config, built := readText(t, "compose/replicas/haproxy.cfg"), readText(t, image)
	for name, place := range map[string]string{"PORTCULLIS_LISTEN": ":8080", "PORTCULLIS_USERS_LISTEN": ":9001", "PORTCULLIS_HEALTH_LISTEN": ":9002"} {
		for _, gateway := range gateways {
			if got := file.Services[gateway].Environment[name]; got != place {
				t.Errorf("%s has %s %q, want %s", gateway, name, got, place)
			}
		}
		if !strings.Contains(built, name+"="+place) {
			t.Errorf("the image does not set %s to %s", name, place)
		}
	}
	for _, port := range file.Services["proxy"].Ports {
		inside := port[strings.LastIndex(port, ":")+1:]
		if !strings.HasPrefix(port, "127.0.0.1:") {
			t.Errorf("port %s is published on more than loopback", port)
		}
		if inside == "9002" || !strings.Contains(config, "bind :"+inside+"\n") {
			t.Errorf("port %s is published", port)
		}
	}
	if !strings.Contains(config, "check port 9002 ") || !strings.Contains(config, "uri /healthz/ready ") {
		t.Error("the proxy does not ask the health listener whether a gateway is ready")
	}
	for _, name := range gateways {
		if !strings.Contains(config, "    server "+name+" "+name+":8080\n") {
			t.Errorf("the proxy does not know %s", name)
		}
		if got := file.Services["proxy"].DependsOn[name].Condition; got != "service_healthy" {
			t.Errorf("the proxy starts when %s is %q", name, got)
		}
	}
}

// TestComposePinsWhatItTakesFromElsewhere to a version, and builds with a Go that can.
func TestComposePinsWhatItTakesFromElsewhere(t *testing.T) {
	file, _ := readCompose(t, replicas)
	version := regexp.MustCompile(`^[a-z]+:[0-9]+\.[0-9]+\.[0-9]+(-[a-z]+)?$`)
	for name, s := range file.Services {
		if s.Build == nil && !version.MatchString(s.Image) {
			t.Errorf("%s is of %q", name, s.Image)
		}
	}
	for _, source := range regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(readText(t, image), -1) {
		if source[1] != "scratch" && !version.MatchString(source[1]) {
			t.Errorf("the image is built from %q", source[1])
		}
	}
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	needs := regexp.MustCompile(`(?m)^go ([0-9]+\.[0-9]+)`).FindStringSubmatch(string(mod))
	if !strings.Contains(readText(t, image), "FROM golang:"+needs[1]+".") {
		t.Errorf("the module needs Go %s", needs[1])
	}
}

// TestComposeBuildsFromTheseFolders: what the context lets in is all that the build needs.
func TestComposeBuildsFromTheseFolders(t *testing.T) {
	file, gateways := readCompose(t, replicas)
	for _, name := range gateways {
		build := file.Services[name].Build
		if _, err := os.Stat(filepath.Join(deployDir, filepath.Dir(replicas), build.Context, build.Dockerfile)); err != nil {
			t.Error(err)
		}
	}
	for line := range strings.Lines(readText(t, image+".dockerignore")) {
		if entry, inside := strings.CutPrefix(strings.TrimSpace(line), "!"); inside {
			if _, err := os.Stat(filepath.Join("../..", entry)); err != nil {
				t.Error(err)
			}
		}
	}
}
