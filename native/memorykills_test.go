package native

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestMemoryFiles(t *testing.T) {
	for groups, want := range map[string][]string{
		"0::/system.slice/org.fulmen.rank.j4k2m9xq7.0.service\n": {"/sys/fs/cgroup/system.slice/org.fulmen.rank.j4k2m9xq7.0.service/memory.events"},
		"8:pids:/\n4:memory:/a:b\n0::/\n":                        {"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/a:b/memory.oom_control"},
		"9:name=systemd:/x\n4:cpu,memory:/jobs/a:b\n0::/u\n":     {"/sys/fs/cgroup/u/memory.events", "/sys/fs/cgroup/memory/jobs/a:b/memory.oom_control"},
		"5:cpuset:/x\n":                       nil,
		"0::/../../escape\n":                  nil,
		"nonsense\n1:memory\n0::relative\n\n": nil,
		"":                                    nil,
	} {
		if got := memoryFiles(groups); !slices.Equal(got, want) {
			t.Errorf("%q has %v, not %v", groups, got, want)
		}
	}
}

func TestParseKills(t *testing.T) {
	is := is.New(t)
	for text, want := range map[string]int64{
		"low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n": 2,
		"oom_kill_disable 0\nunder_oom 0\noom_kill 7\n":                7,
		"": -1, "oom_kill\n": -1, "oom_kill_disable 0\n": -1,
		"oom_kill -4\noom_kill x\noom_kill\n": -1,
	} {
		is.Equal(parseKills(text), want)
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
		if parseKills(events) >= 0 && !strings.Contains(events, "oom_kill ") {
			t.Fatalf("kills were counted in %q", events)
		}
	})
}
