package browser

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/e2e/testcluster"
)

// timeout bounds the start of the cluster, and the tests in the browser.
const timeout = 8 * time.Minute

// soaking is what the long tests take beside it.
const soaking = 25 * time.Minute

// root is the repository's, from this folder.
const root = "../../.."

// shortly are times with which losses are noticed in seconds.
const shortly = "[times]\nlease = \"6s\"\nlease_renewal = \"2s\"\nbeat = \"200ms\"\nbeat_lost = \"2s\"\ngrace = \"1s\"\nfailed_grace = \"500ms\"\n"

// The tests beside this file pass in a browser, on a simulated cluster of real
// daemons. With FULMEN_PICTURES set to a folder they leave pictures there;
// FULMEN_BROWSER is further arguments of Vitest, such as the name of a file.
func TestInABrowser(t *testing.T) {
	within := timeout
	if os.Getenv("FULMEN_SOAK") != "" {
		within += soaking
	}
	onCluster(t, within, func(stage *testcluster.Stage) (string, []string) {
		scenario := filepath.Join(stage.Folder, "desk.toml")
		is.New(t).NoErr(testcluster.Link("testdata/desk.toml", scenario, false))
		return scenario, []string{"studio-1", "studio-2", "book", "mini"}
	}, "browser/vitest.config.ts")
}

// onCluster runs the browser's tests of a configuration on a cluster of the Macs of a
// scenario.
func onCluster(t *testing.T, within time.Duration, which func(*testcluster.Stage) (scenario string, macs []string), config string) {
	if testing.Short() {
		t.Skip("a cluster is started first")
	}
	chromium := needs(t)
	is := is.New(t)
	is.NoErr(readSources())
	stage, err := testcluster.NewStage(root)
	t.Cleanup(stage.Close)
	if errors.Is(err, testcluster.ErrNobody) {
		t.Skip(err)
	}
	is.NoErr(err)
	ctx, stop := context.WithTimeout(t.Context(), within)
	defer stop()
	is.NoErr(stage.Build(ctx, "fulmen/cmd/fulmen", "fulmen/cmd/fulmend", "fulmen/cmd/fulmen-shim"))
	if worker, err := filepath.Abs(filepath.Join(root, "build", "bin", "fulmen-rank")); err == nil {
		if _, err := os.Stat(worker); err == nil {
			is.NoErr(testcluster.Link(worker, stage.Worker, true))
		}
	}
	scenario, macs := which(stage)
	began := time.Now()
	cluster, err := stage.Start(ctx, scenario, macs, shortly)
	t.Cleanup(func() {
		cluster.Close()
		for _, n := range cluster.Nodes {
			if t.Failed() {
				t.Logf("the log of %s ends:\n%s", n.Mac, n.Output.End())
			}
		}
	})
	is.NoErr(err)
	t.Logf("%d daemons are one cluster after %v", len(macs), time.Since(began).Round(time.Millisecond))
	chromium, err = asAccount(stage, chromium)
	is.NoErr(err)
	c := &control{stage: stage, testcluster: cluster, members: len(macs)}

	vitest := exec.CommandContext(ctx, tool("node"), "node_modules/vitest/vitest.mjs", "run", "--config", config)
	vitest.Args = append(vitest.Args, strings.Fields(os.Getenv("FULMEN_BROWSER"))...)
	vitest.Dir = ".."
	vitest.Env = append(os.Environ(), "FULMEN_CONTROL="+c.serve(t), "FULMEN_CHROMIUM="+chromium, "FULMEN_WORK="+stage.Work, "FULMEN_ACCOUNT="+stage.Account.Name, "NO_COLOR=1")
	out, err := vitest.CombinedOutput()
	t.Logf("%s", out)
	is.NoErr(err) // the output says which test failed
}

// asAccount is a program that runs the browser as the account of the cluster, for
// which alone a link to the dashboard counts. The folder with its profile was made
// by this account, which is root.
func asAccount(stage *testcluster.Stage, chromium string) (string, error) {
	if !stage.Account.Other {
		return chromium, nil
	}
	home, path := filepath.Join(stage.Work, "browser"), filepath.Join(stage.Folder, "browser")
	if err := errors.Join(os.MkdirAll(home, 0o700), stage.Account.Owns(home)); err != nil {
		return "", err
	}
	script := fmt.Sprintf(`#!/bin/sh
for a; do case $a in --user-data-dir=*) chown -R %[1]d:%[2]d "${a#*=}" ;; esac; done
exec setpriv --reuid=%[1]d --regid=%[2]d --clear-groups env HOME=%[3]q %[4]q "$@"
`, stage.Account.UID, stage.Account.GID, home, chromium)
	return path, os.WriteFile(path, []byte(script), 0o755)
}

// readSources reads what the tests are made of and look at, so that go test runs
// them again when that has changed.
func readSources() error {
	var errs []error
	for _, folder := range []string{".", "../dist"} {
		errs = append(errs, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			_, err = os.ReadFile(path)
			return err
		}))
	}
	return errors.Join(errs...)
}

// needs skips the test where something is missing that make test has, and gives
// the browser's path.
func needs(t testing.TB) string {
	t.Helper()
	for path, remedy := range map[string]string{"../node_modules/playwright-core": "make deps", "../dist/index.html": "make build"} {
		if _, err := os.Stat(path); err != nil {
			t.Skipf("%s is not there: %s makes it", path, remedy)
		}
	}
	for _, name := range []string{"chromium", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium here: cmd/internal/deps/deps.sh browser fetches it on Debian")
	return ""
}

// tool is a program of the build, or of the system.
func tool(name string) string {
	if own, err := filepath.Abs(filepath.Join(root, "build", "tools", "bin", name)); err == nil {
		if _, err := os.Stat(own); err == nil {
			return own
		}
	}
	return name
}
