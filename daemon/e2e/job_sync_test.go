package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// synced is a cluster of two, and a folder that jobs are run from.
type synced struct {
	*jobs
	folder string
}

// TestJobFolders runs jobs from a folder that is copied, prepared and looked at.
func TestJobFolders(t *testing.T) {
	t.Parallel()
	needJobs(t)
	j := newJobs(t, 2, unhurried)
	if !exists(j.Account.Home) {
		t.Skipf("%s has no home folder for copies", j.Account.Name)
	}
	t.Cleanup(func() { // what else lies there is the account's own
		area := filepath.Join(j.Account.Home, ".fulmen", "sync")
		os.RemoveAll(filepath.Join(area, string(j.Nodes[0].ID)))
		os.Remove(area)
		os.Remove(filepath.Dir(area))
	})
	for _, test := range []struct {
		name string
		run  func(*testing.T, synced)
	}{
		{"a copy", testCopy},
		{"what cannot be copied", testUncopied},
		{"an old copy", testOldCopy},
		{"preparing", testPrepare},
		{"preparing together", testPrepareTogether},
		{"versions", testVersions},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run(t, synced{j, filepath.Join(j.Work, strings.ReplaceAll(test.name, " ", "-"))})
			j.grantsAreBack(t)
		})
	}
}

// write makes files, and links to what follows "->"; what begins with #! is
// executable. All is the account's.
func (s synced) write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(s.folder, name)
		for _, folder := range []string{s.folder, filepath.Dir(at), filepath.Dir(filepath.Dir(at))} {
			if strings.HasPrefix(folder, s.folder) {
				must(t, "a folder", os.MkdirAll(folder, 0o755))
				must(t, "giving it", s.Account.Owns(folder))
			}
		}
		if target, isLink := strings.CutPrefix(text, "->"); isLink {
			must(t, "a link", os.Symlink(target, at))
		} else {
			mode := os.FileMode(0o644)
			if strings.HasPrefix(text, "#!") {
				mode = 0o755
			}
			must(t, "a file", os.WriteFile(at, []byte(text), mode))
		}
		must(t, "giving it", s.Account.Owns(at))
	}
}

// on runs a program of the folder on both nodes, with rank 0 on the submitter's.
func (s synced) on(t *testing.T, args ...string) ran {
	t.Helper()
	c := s.run(t, append([]string{"-n", "2", "--backend", "ring", "--allow-solo", "--rank0", "here"}, args...)...)
	c.Dir = s.folder
	return end(t, c)
}

// reported are the values that each rank's lines NAME=VALUE say.
func reported(out, rank, name string) (all []string) {
	for line := range strings.Lines(out) {
		if value, is := strings.CutPrefix(strings.TrimRight(line, "\n"), "["+rank+"] "+name+"="); is {
			all = append(all, value)
		}
	}
	return all
}

// The submitter's own node runs the folder itself, the other one a copy: with
// executable files and links, and without what .gitignore names. A second job
// writes into the copy only what has changed.
func testCopy(t *testing.T, s synced) {
	is := is.New(t)
	where, err := os.ReadFile(s.Program("where.sh"))
	is.NoErr(err)
	s.write(t, map[string]string{
		"where.sh": string(where), "tools/deep/helper": "#!/bin/sh\necho helps\n", "plain.txt": "one", "linked": "->tools/deep/up", "tools/deep/up": "->../../plain.txt",
		".gitignore": "*.bin\nsecret/\n", "ignored.bin": "x", "secret/key": "x", ".git/HEAD": "x", "large": strings.Repeat("x", 1<<20),
	})
	old := time.Now().Add(-time.Hour) // a file of just now is compared by its contents
	for _, name := range []string{"large", "plain.txt", "where.sh"} {
		is.NoErr(os.Chtimes(filepath.Join(s.folder, name), old, old))
	}
	got := s.on(t, "--sync", "--", "./where.sh")
	is.Equal(got.status, 0)
	is.Equal(reported(got.out, "0", "dir"), []string{s.folder}) // the folder itself
	is.Equal(len(reported(got.out, "0", "without")), 0)
	dir := reported(got.out, "1", "dir")
	is.Equal(len(dir), 1)
	is.True(strings.HasPrefix(dir[0], filepath.Join(s.Account.Home, ".fulmen", "sync", string(s.Nodes[0].ID))+"/")) // the copy
	is.Equal(filepath.Base(dir[0]), filepath.Base(s.folder))
	is.True(reported(got.out, "1", "self")[0] == "./where.sh" || strings.HasPrefix(reported(got.out, "1", "self")[0], dir[0]+"/"))
	is.Equal(reported(got.out, "1", "helper"), []string{"helps"})
	is.Equal(reported(got.out, "1", "linked"), []string{"one"})
	is.Equal(reported(got.out, "1", "without"), []string{"ignored.bin", "secret", ".git"})

	before := map[string]uint64{}
	for _, name := range []string{"large", "plain.txt", "tools/deep/helper"} {
		before[name] = inode(t, filepath.Join(dir[0], name))
	}
	s.write(t, map[string]string{"plain.txt": "two"})
	is.NoErr(os.Remove(filepath.Join(s.folder, "tools/deep/helper")))
	got = s.on(t, "--sync", "--", "./where.sh")
	is.Equal(got.status, 0)
	is.Equal(reported(got.out, "1", "dir"), dir)
	is.Equal(reported(got.out, "1", "plain"), []string{"two"})
	is.Equal(len(reported(got.out, "1", "helper")), 0)
	is.Equal(inode(t, filepath.Join(dir[0], "large")), before["large"]) // it was not sent again
	is.True(inode(t, filepath.Join(dir[0], "plain.txt")) != before["plain.txt"])
}

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, "a file of the copy", err)
	return info.Sys().(*syscall.Stat_t).Ino
}

// What cannot be copied ends the job before it starts, in words that name it.
func testUncopied(t *testing.T, s synced) {
	s.write(t, map[string]string{"run.sh": "#!/bin/sh\n", "models/out": "->/etc/passwd"})
	got := s.on(t, "--sync", "--", "./run.sh")
	if got.status != api.ExitNotStarted || !strings.Contains(got.err, "models/out leads out of the folder") {
		t.Errorf("a link out: %+v", got)
	}
	must(t, "removing it", os.Remove(filepath.Join(s.folder, "models/out")))
	s.write(t, map[string]string{"models/weights": ""})
	must(t, "a file with nothing in it", os.Truncate(filepath.Join(s.folder, "models/weights"), 1<<30+1))
	got = s.on(t, "--sync", "--", "./run.sh")
	if got.status != api.ExitNotStarted || !strings.Contains(got.err, "models") || !strings.Contains(got.err, "GiB") {
		t.Errorf("a folder that is too large: %+v", got)
	}
}

// A copy that no job has asked for in a long time goes when the daemon starts,
// and not before the job that it was made for is deleted.
func testOldCopy(t *testing.T, s synced) {
	is := is.New(t)
	s.write(t, map[string]string{"run.sh": "#!/bin/sh\necho dir=$(pwd)\n"})
	id := s.detached(t, s.Nodes[0], "-n", "2", "--backend", "ring", "--allow-solo", "--rank0", "here", "--sync", "--cwd", s.folder, "--", "./run.sh")
	s.until(t, s.Nodes[0], id, "end", timeout, hasEnded)
	copies, err := filepath.Glob(filepath.Join(s.Account.Home, ".fulmen", "sync", string(s.Nodes[0].ID), "*", filepath.Base(s.folder)))
	is.NoErr(err)
	is.Equal(len(copies), 1)
	again := func() {
		s.Nodes[1].End(syscall.SIGTERM)
		must(t, "a new start", s.Nodes[1].Boot(t.Context()))
		must(t, "a whole cluster", s.Whole(t.Context()))
	}
	is.Equal(end(t, s.fulmen(t.Context(), s.Nodes[0], "job", "delete", string(id))).status, 0)
	eventually(t, "end of what the other node knows of it", soon, func() bool {
		_, _, err := jobOf(t.Context(), s.Nodes[1].Client, id)
		return err != nil
	})
	is.True(exists(copies[0]))
	s.grantsAreBack(t)
	old := time.Now().Add(-30 * 24 * time.Hour)
	is.NoErr(os.Chtimes(filepath.Join(filepath.Dir(copies[0]), ".state", "lock"), old, old))
	again()
	eventually(t, "removal of the copy", soon, func() bool { return !exists(copies[0]) })
}

// A node is prepared once, and again when an input has changed. Where that fails
// the job ends with the last lines of it.
func testPrepare(t *testing.T, s synced) {
	is := is.New(t)
	s.write(t, map[string]string{"requirements.txt": "one\n", "run.sh": "#!/bin/sh\ncat prepared | wc -l\n"})
	times := func() int {
		text, err := os.ReadFile(filepath.Join(s.folder, "prepared"))
		is.NoErr(err)
		return strings.Count(string(text), "prepared\n")
	}
	run := func() {
		t.Helper()
		if got := s.on(t, "--prepare", "echo prepared >> prepared", "--prepare-input", "requirements.txt", "--", "./run.sh"); got.status != 0 {
			t.Errorf("%+v", got)
		}
	}
	run()
	is.Equal(times(), 2) // once a node
	run()
	is.Equal(times(), 2)
	s.write(t, map[string]string{"requirements.txt": "two\n"})
	run()
	is.Equal(times(), 4)
	got := s.on(t, "--prepare", "echo begins; echo the very last line >&2; exit 3", "--", "./run.sh")
	if got.status != api.ExitNotStarted || !strings.Contains(got.err, "begins | the very last line") || !strings.Contains(got.err, "exit code 3") {
		t.Errorf("%+v", got)
	}
	is.Equal(got.out, "") // no rank has run
}

// makeEnvironment makes a Python environment whose mlx is of another version in a
// copy. What makes it is a shell script, as what --prepare runs.
const makeEnvironment = `#!/bin/sh
case $PWD in */.fulmen/sync/*) version=0.29.1 ;; *) version=0.30.0 ;; esac
mkdir -p .venv/bin
[ -e .venv/bin/python ] || ln -s "$1" .venv/bin/python
echo "home = $(dirname "$1")" > .venv/pyvenv.cfg
at=.venv/lib/$(.venv/bin/python -c 'import sys; print("python%d.%d" % sys.version_info[:2])')/site-packages
mkdir -p "$at/mlx-$version.dist-info"
printf 'Metadata-Version: 2.1\nName: mlx\nVersion: %s\n' $version > "$at/mlx-$version.dist-info/METADATA"
`

// Nodes with different versions are told apart, in fulmen env and before a job
// starts; --allow-mixed runs it all the same.
func testVersions(t *testing.T, s synced) {
	is := is.New(t)
	s.needPython(t)
	base, err := os.Readlink(s.Python)
	is.NoErr(err)
	s.write(t, map[string]string{"make.sh": makeEnvironment, "show.py": "import sys; print('prefix=' + sys.prefix)\n"})
	flags := []string{"--sync", "--venv", ".venv", "--prepare", "./make.sh " + base}
	show := []string{"--", "python", "show.py"}
	first := s.on(t, append(append(flags, "--allow-mixed"), show...)...)
	is.Equal(first.status, 0)
	is.Equal(reported(first.out, "0", "prefix"), []string{filepath.Join(s.folder, ".venv")})
	is.True(strings.Contains(reported(first.out, "1", "prefix")[0], "/.fulmen/sync/"))

	env := func(more ...string) ran {
		c := s.fulmen(t.Context(), s.Nodes[0], append(append(append([]string{"env"}, more...), flags...), show...)...)
		c.Dir = s.folder
		return end(t, c)
	}
	table := env()
	is.Equal(table.status, 1)
	for _, want := range []string{"0.30.0", "0.29.1", "studio-1", "studio-2", "MLX is"} {
		is.True(strings.Contains(table.out, want)) // the table names the difference
	}
	second := s.on(t, append(flags, show...)...)
	is.Equal(second.status, api.ExitNotStarted)
	is.Equal(second.out, "")
	is.True(strings.Contains(second.err, "0.29.1 on studio-2") && strings.Contains(second.err, "--allow-mixed"))
	is.Equal(s.on(t, append(append(flags, "--allow-mixed"), show...)...).status, 0)
	var result api.JobPreflightResult
	is.NoErr(json.Unmarshal([]byte(env("--json").out), &result))
	is.Equal(fmt.Sprint(len(result.Nodes), result.Differences[0].Reason), fmt.Sprint(2, api.ReasonMLXVersionsDiffer))
}
