package health

import "fulmen/daemon/api"

// concerns are the conditions about RDMA over cables. That a test failed is told by
// who measures, the rest by the readiness.
func concerns() []Info {
	gone := []api.Reason{api.ReasonLinkFlapping, api.ReasonLinkDown}
	return []Info{
		{Code: api.ReasonRDMAOneSided, DependsOn: gone, Remedy: "Turn it on here; the steps are in `fulmen rdma`."},
		{Code: api.ReasonRDMABuildsDiffer, DependsOn: gone},
		{Code: api.ReasonRDMANoIPv4GID, DependsOn: gone, Remedy: "Fulmen gives it back by itself; if it stays away, replug the cable."},
		{Code: api.ReasonRDMAProbeFailed, DependsOn: append(gone, api.ReasonRDMAPortSuspect)},
	}
}

// Concerned takes all that holds of it now about this node's ends of cables: the
// code, the end as subject, and the detail as message. What held before and is not
// among it holds no more.
func (c *Cables) Concerned(causes []api.Cause) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	now := map[key]bool{}
	for _, cause := range causes {
		now[key{cause.Reason, cause.Subject}] = true
		c.hold(cause.Reason, cause.Subject, true, cause.Message)
	}
	for _, info := range concerns() {
		for k := range c.raised {
			if k.code == info.Code && !now[k] {
				c.hold(k.code, k.subject, false, "")
			}
		}
	}
}
