package shim

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestMemoryFiles(t *testing.T) {
	is := is.New(t)
	is.Equal(memoryFiles("0::/system.slice/org.fulmen.rank.j4k2m9xq7.0.service\n"), []string{"/sys/fs/cgroup/system.slice/org.fulmen.rank.j4k2m9xq7.0.service/memory.events"})
	is.Equal(memoryFiles("8:pids:/\n4:memory:/a:b\n0::/\n"), []string{"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/a:b/memory.oom_control"})
	is.Equal(len(memoryFiles("nonsense\n1:memory\n0::relative\n")), 0)
}

func TestParseKills(t *testing.T) {
	is := is.New(t)
	for text, want := range map[string]uint64{
		"low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n": 2,
		"oom_kill_disable 0\nunder_oom 0\noom_kill 7\n":                7,
	} {
		n, known := parseKills(text)
		is.True(known)
		is.Equal(n, want)
	}
	for _, text := range []string{"", "oom_kill\n", "oom_kill -1\n", "oom_kill_disable 0\n"} {
		_, known := parseKills(text)
		is.True(!known)
	}
}

func FuzzMemoryFiles(f *testing.F) {
	f.Add("4:memory:/a:b\n0::/\n", "oom_kill 2\n")
	f.Add("0::/x\n", "oom_kill\n oom_kill 3\n")
	f.Fuzz(func(t *testing.T, cgroups, events string) {
		for _, file := range memoryFiles(cgroups) {
			if !strings.HasPrefix(file, "/sys/fs/cgroup/") {
				t.Fatal(file)
			}
		}
		if _, known := parseKills(events); known && !strings.Contains(events, "oom_kill ") {
			t.Fatalf("kills were counted in %q", events)
		}
	})
}
