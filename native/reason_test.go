package native_test

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
)

func TestCheckUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*native.Snapshot)
		want  []string
	}{
		"honest":                     {func(*native.Snapshot) {}, nil},
		"absent without a reason":    {func(s *native.Snapshot) { s.Memory.TotalBytes = nil }, []string{"memory.total_bytes: absent without a reason"}},
		"zero is present":            {func(s *native.Snapshot) { s.Memory.SwapUsedBytes = new(int64(0)) }, nil},
		"empty list is present":      {func(s *native.Snapshot) { s.Thunderbolt.Ports = []native.Port{} }, nil},
		"no list is absent":          {func(s *native.Snapshot) { s.Thunderbolt.Ports = nil }, []string{"thunderbolt.ports: absent without a reason"}},
		"present and called unknown": {func(s *native.Snapshot) { s.Memory.Unknown.Add("used_bytes", native.ReasonReadFailed) }, []string{"memory.used_bytes: present and yet called unknown"}},
		"no such field":              {func(s *native.Snapshot) { s.RDMA.Unknown.Add("gid", native.ReasonReadFailed) }, []string{"rdma.gid: a reason for a field that does not exist"}},
		"deep in a list":             {func(s *native.Snapshot) { s.Thunderbolt.Ports[1].Hubs[1].Unknown = nil }, []string{"thunderbolt.ports[1].hubs[1].name: absent without a reason", "thunderbolt.ports[1].hubs[1].vendor: absent without a reason"}},
		"an empty reason is none":    {func(s *native.Snapshot) { s.Identity.Unknown["hardware_id"] = "" }, []string{"identity.hardware_id: absent without a reason"}},
		"an area left out":           {func(s *native.Snapshot) { s.RDMA = nil }, []string{"rdma: asked for, absent without a reason"}},
		"an area explained":          {func(s *native.Snapshot) { s.RDMA = nil; s.Unknown.Add("rdma", native.ReasonNoHardware) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s := studio()
			c.spoil(&s)
			is.Equal(s.Check(native.AllAreas()), c.want)
		})
	}
}

func TestReason(t *testing.T) {
	is := is.New(t)
	r := native.ReasonReadFailed.With("host_statistics64: 5").With("sysctl: ENOENT: gone")
	is.Equal(string(r), "read_failed: sysctl: ENOENT: gone") // the last detail counts
	is.Equal(r.Key(), "read_failed")
	is.Equal(r.Detail(), "sysctl: ENOENT: gone")
	is.Equal(native.ReasonReadFailed.With(""), native.ReasonReadFailed)
	is.Equal(native.ReasonReadFailed.Detail(), "")
}
