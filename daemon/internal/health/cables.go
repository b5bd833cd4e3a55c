package health

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// flapWindow is the time in which flapCount changes of a receptacle's link are
	// too many: a person who replugs a cable makes two.
	flapWindow = 60 * time.Second
	flapCount  = 4
)

// Cables raises and clears the conditions of one node's receptacles, cables and networks.
// It may be used by several goroutines.
type Cables struct {
	own   *Health
	clock native.Clock
	node  api.NodeID

	mu     sync.Mutex
	closed bool
	ports  map[api.PortNumber]*watchedPort
	// joins are the two ports of the cable that was last at a receptacle, for people.
	joins map[api.PortNumber]string
	// networks are the interfaces that have had a network since they are switched on.
	networks map[string]bool
	// suspects are the programs that may have left the device of a receptacle stuck.
	suspects map[api.PortNumber]string
	keep     func(map[api.PortNumber]string)
}

// watchedPort is a receptacle's recent past.
type watchedPort struct {
	link    linkState
	changes []time.Duration // on Boot, the oldest first, none older than flapWindow
	timer   native.Timer    // ends the flapping; nil before it flapped
}

// linkState is what counts as a change when it becomes another.
type linkState struct {
	connected bool
	tx, rx    int64
}

// NewCables makes the conditions of a node's cables. Intervals are measured on
// the clock.
func NewCables(own *Health, node api.NodeID, clock native.Clock) *Cables {
	return &Cables{
		own: own, clock: clock, node: node, ports: map[api.PortNumber]*watchedPort{}, joins: map[api.PortNumber]string{},
		suspects: map[api.PortNumber]string{},
	}
}

// Close stops its timers; conditions stay as they are.
func (c *Cables) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, port := range c.ports {
		port.stop()
	}
}

// Plugged takes what the node's document says of a receptacle now, with its reasons.
func (c *Cables) Plugged(port api.Thunderbolt, unknown map[string]api.Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || port.Connected == nil {
		return // what is not known is no change, and no reason to take anything back
	}
	now := linkState{connected: *port.Connected}
	if port.Negotiated != nil {
		now.tx, now.rx = port.Negotiated.TxBitsPerS, port.Negotiated.RxBitsPerS
	}
	one := c.ports[port.PortNumber]
	switch {
	case one == nil:
		one = &watchedPort{link: now}
		c.ports[port.PortNumber] = one
	case one.link != now:
		one.link = now
		one.changes = append(one.changes, c.clock.Boot())
		one.changes = one.changes[max(0, len(one.changes)-flapCount):]
	}
	c.judgeLocked(port.PortNumber, one)
	if !now.connected {
		c.suspectLocked(port.PortNumber, "")
	}
	c.own.Hold(api.ReasonLinkDown, c.subject(port.PortNumber), now.connected && unknown["negotiated"] == api.ReasonLinkDown, "")
}

// Removed takes that a receptacle's document is gone.
func (c *Cables) Removed(portNumber api.PortNumber) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.ports[portNumber]; one != nil {
		one.stop()
		delete(c.ports, portNumber)
	}
	c.own.SetOf(api.ReasonLinkFlapping, c.subject(portNumber), "")
	c.own.SetOf(api.ReasonLinkDown, c.subject(portNumber), "")
	c.suspectLocked(portNumber, "")
}

// Drawn takes the graph, as far as this node knows it.
func (c *Cables) Drawn(graph api.LinkListResult, name func(api.NodeID) string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	slow := map[string]string{}
	for _, cable := range graph.Cables {
		for _, end := range cable.Ends {
			if end.End.Node == c.node && len(cable.Ends) == 2 {
				c.joins[end.End.PortNumber] = portsOf(cable, name)
			}
		}
		if cable.Muted || !slices.Contains(cable.Reasons, api.ReasonLinkBelowPorts) {
			continue
		}
		for _, end := range cable.Ends {
			if end.End.Node == c.node {
				slow[end.End.String()] = speedDetail(cable, name)
			}
		}
	}
	c.own.Only(api.ReasonLinkBelowPorts, slow)
	var loops []string
	for _, loop := range graph.Loops {
		if slices.Contains(loop, c.node) {
			names := make([]string, len(loop))
			for i, node := range loop {
				names[i] = name(node)
			}
			loops = append(loops, strings.Join(names, " - "))
		}
	}
	c.own.Set(api.ReasonBridgeLoop, strings.Join(loops, "; "))
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
	for _, code := range []api.Reason{api.ReasonRDMAOneSided, api.ReasonRDMABuildsDiffer, api.ReasonRDMANoIPv4GID} {
		about := map[string]string{}
		for _, cause := range causes {
			if cause.Reason == code {
				about[cause.Subject] = cause.Message
			}
		}
		c.own.Only(code, about)
	}
}

// Networked takes what the node's own document says of its networks. One that an
// interface had is lost while the interface is switched on and has none: who switches
// it off, or takes it out, wants it so.
func (c *Cables) Networked(now api.Network, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	had, lost := c.networks, map[string]string{}
	c.networks = map[string]bool{}
	for _, i := range now.Interfaces {
		if !i.Type.IsNetwork() || !i.Up || !i.HasNetwork() && !had[i.Name] {
			continue
		}
		c.networks[i.Name] = true
		if !i.HasNetwork() {
			lost[i.Name] = fmt.Sprintf("%s on %s", name, i.Called())
		}
	}
	c.own.Only(api.ReasonNetworkLost, lost)
}

// judgeLocked says whether a receptacle's link flaps, and when to look again.
func (c *Cables) judgeLocked(portNumber api.PortNumber, one *watchedPort) {
	one.stop()
	now := c.clock.Boot()
	one.changes = slices.DeleteFunc(one.changes, func(at time.Duration) bool { return now-at >= flapWindow })
	flaps := len(one.changes) >= flapCount
	c.own.Hold(api.ReasonLinkFlapping, c.subject(portNumber), flaps, c.joins[portNumber])
	if flaps {
		one.timer = c.clock.AfterFunc(one.changes[0]+flapWindow-now, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if !c.closed && c.ports[portNumber] == one {
				c.judgeLocked(portNumber, one)
			}
		})
	}
}

func (p *watchedPort) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

// subject is the receptacle as conditions name it.
func (c *Cables) subject(portNumber api.PortNumber) string {
	return api.LinkEnd{Node: c.node, PortNumber: portNumber}.String()
}

// speedDetail is which cable it is, by its ports, what it negotiated, and the hubs
// on its way.
func speedDetail(cable api.Cable, name func(api.NodeID) string) string {
	if cable.ForwardBitsPerS == nil || cable.BackwardBitsPerS == nil {
		return ""
	}
	speed := portsOf(cable, name) + ", " + native.LinkSpeed{TxBitsPerS: *cable.ForwardBitsPerS, RxBitsPerS: *cable.BackwardBitsPerS}.String()
	if len(cable.Hubs) > 0 {
		speed += " through " + strings.Join(cable.Hubs, ", ")
	}
	return speed
}

// portsOf are the known ends of a cable for people, alike at both.
func portsOf(cable api.Cable, name func(api.NodeID) string) string {
	var ports []string
	for _, end := range cable.Ends {
		port := name(end.End.Node) + ":" + end.End.PortNumber.String()
		if end.Place != "" {
			port += " (" + end.Place + ")"
		}
		ports = append(ports, port)
	}
	return strings.Join(ports, " to ")
}
