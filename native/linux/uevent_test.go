package linux

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
)

// message joins the lines of a uevent as the kernel does.
func message(lines ...string) []byte { return []byte(strings.Join(lines, "\x00") + "\x00") }

const xdomain = "/devices/pci0000:00/0000:00:0d.2/domain0/0-0/0-1/0-301"

func TestParseUevent(t *testing.T) {
	is := is.New(t)
	got, err := parseUevent(message("add@"+xdomain, "ACTION=add", "DEVPATH="+xdomain, "SUBSYSTEM=thunderbolt", "DEVTYPE=thunderbolt_xdomain", "SYNTH_UUID=0", "EMPTY=", "SEQNUM=4711"))
	is.NoErr(err)
	is.Equal(got, uevent{action: "add", device: xdomain, subsystem: "thunderbolt"})
	is.Equal(got.subject(), "0-301")

	many := []string{"change@/devices/a", "ACTION=change", "DEVPATH=/devices/a", "SUBSYSTEM=a", "SEQNUM=1"}
	for range mostUeventVariables {
		many = append(many, "A=1")
	}
	for name, data := range map[string][]byte{
		"nothing":                   nil,
		"a zero byte":               {0},
		"no end":                    []byte("add@/a\x00ACTION=add\x00DEVPATH=/a\x00SUBSYSTEM=a\x00SEQNUM=1"),
		"udevd's form":              append([]byte("libudev\x00\xfe\xed\xca\xfe"), message("ACTION=add", "DEVPATH=/a", "SUBSYSTEM=a", "SEQNUM=1")...),
		"no header":                 message("ACTION=add", "DEVPATH=/a", "SUBSYSTEM=a", "SEQNUM=1"),
		"no variables":              message("add@/a"),
		"an unknown action":         message("explode@/a", "ACTION=explode", "DEVPATH=/a", "SUBSYSTEM=a", "SEQNUM=1"),
		"a path that is none":       message("add@a", "ACTION=add", "DEVPATH=a", "SUBSYSTEM=a", "SEQNUM=1"),
		"another action":            message("add@/a", "ACTION=remove", "DEVPATH=/a", "SUBSYSTEM=a", "SEQNUM=1"),
		"another path":              message("add@/a", "ACTION=add", "DEVPATH=/b", "SUBSYSTEM=a", "SEQNUM=1"),
		"no subsystem":              message("add@/a", "ACTION=add", "DEVPATH=/a", "SEQNUM=1"),
		"no number":                 message("add@/a", "ACTION=add", "DEVPATH=/a", "SUBSYSTEM=a"),
		"a number that is none":     message("add@/a", "ACTION=add", "DEVPATH=/a", "SUBSYSTEM=a", "SEQNUM=-1"),
		"two answers":               message("add@/a", "ACTION=add", "DEVPATH=/a", "SUBSYSTEM=a", "SUBSYSTEM=thunderbolt", "SEQNUM=1"),
		"a line that is none":       message("add@/a", "ACTION=add", "DEVPATH=/a", "SUBSYSTEM=a", "SEQNUM=1", "x"),
		"a variable without a name": message("add@/a", "ACTION=add", "DEVPATH=/a", "SUBSYSTEM=a", "SEQNUM=1", "=x"),
		"too many variables":        message(many...),
		"too long":                  message("add@/a", "ACTION=add", "DEVPATH=/a", "SUBSYSTEM=a", "SEQNUM=1", "A="+strings.Repeat("a", mostUeventBytes)),
	} {
		t.Run(name, func(t *testing.T) {
			if event, err := parseUevent(data); err == nil {
				t.Errorf("read as %+v", event)
			}
		})
	}
}

func TestUeventAreas(t *testing.T) {
	thunderbolt, rdma := native.AreaThunderbolt, native.AreaRDMA
	both := []native.Area{native.AreaNetwork, native.AreaThunderbolt}
	for name, c := range map[string]struct {
		event uevent
		want  []native.Area
	}{
		"a peer":                               {uevent{device: xdomain, subsystem: "thunderbolt"}, []native.Area{thunderbolt}},
		"a service that got its driver":        {uevent{device: xdomain + "/0-301.0", subsystem: "thunderbolt", driver: "thunderbolt-net"}, both},
		"an interface over Thunderbolt":        {uevent{device: xdomain + "/0-301.0/net/thunderbolt0", subsystem: "net"}, both},
		"its queue":                            {uevent{device: xdomain + "/0-301.0/net/thunderbolt0/queues/rx-0", subsystem: "queues"}, nil},
		"an interface that rtnetlink tells":    {uevent{device: "/devices/virtual/net/veth0", subsystem: "net"}, nil},
		"an interface in a dock's PCI slot":    {uevent{device: "/devices/pci0000:00/0000:00:07.0/0000:03:00.0/net/enp3s0", subsystem: "net"}, nil},
		"an interface at the root":             {uevent{device: "/net", subsystem: "net"}, nil},
		"an RDMA device":                       {uevent{device: "/devices/pci0000:00/0000:41:00.0/infiniband/mlx5_0", subsystem: "infiniband"}, []native.Area{rdma}},
		"what programs open an RDMA device by": {uevent{device: "/devices/pci0000:00/0000:41:00.0/infiniband_verbs/uverbs0", subsystem: "infiniband_verbs"}, nil},
		"a disk":                               {uevent{device: "/devices/virtual/block/loop0", subsystem: "block"}, nil},
	} {
		t.Run(name, func(t *testing.T) { is.New(t).Equal(c.event.areas(), c.want) })
	}
}
