package health

import (
	"errors"
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

// Port is what a node's own documents say of a receptacle.
type Port struct {
	api.Thunderbolt
	// Unknown are the document's reasons.
	Unknown map[string]api.Reason
}

// Cables raises and clears the conditions of one node's receptacles, cables and networks.
// It may be used by several goroutines.
type Cables struct {
	health *Health
	clock  native.Clock
	node   api.NodeID
	failed func(error)

	mu     sync.Mutex
	closed bool
	ports  map[api.Receptacle]*watchedPort
	// joins are the two ports of the cable that was last at a receptacle, for people.
	joins map[api.Receptacle]string
	// networks are the interfaces that have had a network since they are switched on.
	networks map[string]bool
	// raised are the conditions that hold, by what they are about.
	raised map[key]bool
	// suspects are the programs that may have left the device of a receptacle stuck.
	suspects map[api.Receptacle]string
	keep     func(map[api.Receptacle]string)
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
// the clock. failed hears of conditions that could not be published.
func NewCables(h *Health, node api.NodeID, clock native.Clock, failed func(error)) *Cables {
	return &Cables{health: h, clock: clock, node: node, failed: failed, ports: map[api.Receptacle]*watchedPort{}, joins: map[api.Receptacle]string{}, networks: map[string]bool{}, raised: map[key]bool{}, suspects: map[api.Receptacle]string{}}
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

// Plugged takes what the node's documents say of a receptacle now.
func (c *Cables) Plugged(port Port) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || port.Connected == nil {
		return // what is not known is no change, and no reason to take anything back
	}
	now := linkState{connected: *port.Connected}
	if port.Negotiated != nil {
		now.tx, now.rx = port.Negotiated.TxBitsPerS, port.Negotiated.RxBitsPerS
	}
	one := c.ports[port.Receptacle]
	switch {
	case one == nil:
		one = &watchedPort{link: now}
		c.ports[port.Receptacle] = one
	case one.link != now:
		one.link = now
		one.changes = append(one.changes, c.clock.Boot())
		one.changes = one.changes[max(0, len(one.changes)-flapCount):]
	}
	c.judge(port.Receptacle, one)
	if !now.connected {
		c.suspect(port.Receptacle, "")
	}
	c.hold(api.ReasonLinkDown, c.subject(port.Receptacle), now.connected && port.Unknown["negotiated"] == api.ReasonLinkDown, "")
}

// Removed takes that a receptacle's document is gone.
func (c *Cables) Removed(receptacle api.Receptacle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.ports[receptacle]; one != nil {
		one.stop()
		delete(c.ports, receptacle)
	}
	for _, code := range []api.Reason{api.ReasonLinkFlapping, api.ReasonLinkDown} {
		c.hold(code, c.subject(receptacle), false, "")
	}
	c.suspect(receptacle, "")
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
				c.joins[end.End.Receptacle] = portsOf(cable, name)
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
	for subject, detail := range slow {
		c.hold(api.ReasonLinkBelowPorts, subject, true, detail)
	}
	for k := range c.raised {
		if _, still := slow[k.subject]; k.code == api.ReasonLinkBelowPorts && !still {
			c.hold(k.code, k.subject, false, "")
		}
	}
	loops := []string{}
	for _, loop := range graph.Loops {
		if slices.Contains(loop, c.node) {
			names := make([]string, len(loop))
			for i, node := range loop {
				names[i] = name(node)
			}
			loops = append(loops, strings.Join(names, " - "))
		}
	}
	c.hold(api.ReasonBridgeLoop, "", len(loops) > 0, strings.Join(loops, "; "))
}

// judge says whether a receptacle's link flaps, and when to look again. The
// caller holds mu.
func (c *Cables) judge(receptacle api.Receptacle, one *watchedPort) {
	one.stop()
	now := c.clock.Boot()
	one.changes = slices.DeleteFunc(one.changes, func(at time.Duration) bool { return now-at >= flapWindow })
	flaps := len(one.changes) >= flapCount
	c.hold(api.ReasonLinkFlapping, c.subject(receptacle), flaps, c.joins[receptacle])
	if flaps {
		one.timer = c.clock.AfterFunc(one.changes[0]+flapWindow-now, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if !c.closed && c.ports[receptacle] == one {
				c.judge(receptacle, one)
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
func (c *Cables) subject(receptacle api.Receptacle) string {
	return api.LinkEnd{Node: c.node, Receptacle: receptacle}.String()
}

// hold raises or clears; the caller holds mu.
func (c *Cables) hold(code api.Reason, subject string, yes bool, detail string) {
	k := key{code, subject}
	var err error
	switch {
	case yes:
		err = c.health.Raise(code, subject, detail)
		c.raised[k] = true
	case c.raised[k]:
		if err = c.health.Clear(code, subject); err == nil {
			delete(c.raised, k)
		}
	}
	if err != nil {
		c.failed(errors.Join(fmt.Errorf("condition %s", k.name()), err))
	}
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
		port := name(end.End.Node) + ":" + end.End.Receptacle.String()
		if end.Place != "" {
			port += " (" + end.Place + ")"
		}
		ports = append(ports, port)
	}
	return strings.Join(ports, " to ")
}
