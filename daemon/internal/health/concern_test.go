package health

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestConcernsComeAndGo(t *testing.T) {
	is := is.New(t)
	c, b, _ := cableRig(t)
	first, second := string(nodeA)+":1", string(nodeA)+":2"
	concern := func(code api.Reason, subject string) api.Cause {
		return api.Cause{Reason: code, Subject: subject, Message: "it is on at studio-2 and off here"}
	}
	c.Concerned([]api.Cause{concern(api.ReasonRDMAOneSided, first), concern(api.ReasonRDMAOneSided, second), concern(api.ReasonRDMABuildsDiffer, first)})
	is.Equal(b.names(), []string{"rdma_builds_differ/" + first, "rdma_one_sided/" + first, "rdma_one_sided/" + second})
	shown := c.own.Shown()
	is.True(strings.HasPrefix(shown[0].Text, "RDMA is ready on one side of the cable only: it is on") || strings.HasPrefix(shown[0].Text, "The Macs run different"))

	c.Killed(1, "rank 0 of job j00000000") // another's condition on the same end
	c.Concerned([]api.Cause{concern(api.ReasonRDMAOneSided, second)})
	is.Equal(b.names(), []string{"rdma_one_sided/" + second, "rdma_port_suspect/" + first})
	c.Concerned(nil)
	is.Equal(b.names(), []string{"rdma_port_suspect/" + first})

	c.Close()
	c.Concerned([]api.Cause{concern(api.ReasonRDMAOneSided, first)})
	is.Equal(b.names(), []string{"rdma_port_suspect/" + first}) // nothing is told any more
}

// TestFlappingExplainsConcerns keeps a cable that comes and goes from raising more
// than that it does.
func TestFlappingExplainsConcerns(t *testing.T) {
	is := is.New(t)
	c, b, _ := cableRig(t)
	end := string(nodeA) + ":2"
	for range flapCount/2 + 1 {
		c.Plugged(plugged(2, 80))
		c.Plugged(plugged(2, 0))
	}
	c.Concerned([]api.Cause{{Reason: api.ReasonRDMAOneSided, Subject: end, Message: "off here"}})
	is.Equal(b.names(), []string{"link_flapping/" + end})
}
