package proc

import (
	"testing"

	"github.com/matryer/is"
)

func TestOOMSince(t *testing.T) {
	tests := []struct {
		name          string
		before, after oomCount
		want          oomSign
	}{
		{"nobody", oomCount{2, 5}, oomCount{2, 5}, oomNone},
		{"one of ours", oomCount{2, 5}, oomCount{3, 6}, oomSurely},
		{"one elsewhere", oomCount{2, 5}, oomCount{2, 6}, oomProbably},
		{"only the system counts", oomCount{-1, 5}, oomCount{-1, 6}, oomProbably},
		{"only the group counts", oomCount{1, -1}, oomCount{1, -1}, oomNone},
		{"nobody counts", oomCount{-1, -1}, oomCount{-1, -1}, oomUnknown},
		{"the count became readable", oomCount{-1, -1}, oomCount{4, 4}, oomUnknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { is.New(t).Equal(tt.after.since(tt.before), tt.want) })
	}
}

func TestCounter(t *testing.T) {
	is := is.New(t)
	const text = "low 0\noom 3\noom_kill 12\noom_group_kill 1\n"
	is.Equal(counter(text, "oom_kill"), int64(12))
	is.Equal(counter(text, "oom"), int64(3))
	is.Equal(counter(text, "kill"), int64(-1))
	is.Equal(counter("oom_kill -4\noom_kill x\noom_kill\n", "oom_kill"), int64(-1))
}

func TestMemoryGroup(t *testing.T) {
	tests := []struct {
		text, path string
		v1, ok     bool
	}{
		{"0::/system.slice/fulmend.service\n", "/system.slice/fulmend.service", false, true},
		{"9:name=systemd:/x\n4:cpu,memory:/jobs/a:b\n0::/u\n", "/jobs/a:b", true, true},
		{"5:cpuset:/x\n", "", false, false},
		{"0::/../../escape\n", "", false, false},
		{"0::relative\n", "", false, false},
		{"", "", false, false},
	}
	for _, tt := range tests {
		is := is.New(t)
		path, v1, ok := memoryGroup(tt.text)
		is.Equal(path, tt.path)
		is.Equal(v1, tt.v1)
		is.Equal(ok, tt.ok)
	}
}
