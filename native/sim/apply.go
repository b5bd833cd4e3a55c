package sim

import (
	"fmt"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// Apply makes one change. It is made whole or, with an error, not at all;
// [native.ErrNotFound] matches what names something that the scenario lacks,
// [native.ErrExists] a receptacle that is taken. When it returns, the facts are
// changed and every hint of it has been handed to its watchers, unless another
// goroutine is still handing them earlier ones. What takes time on a real Mac
// (addresses that come late, a sleep that waits for its acknowledgement, a
// restart) follows on the clock.
func (w *World) Apply(op scenario.Op) error {
	err := w.change("sim."+string(op.Verb), func() error { return w.apply(op) })
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

func (w *World) apply(op scenario.Op) error {
	switch op.Verb {
	case scenario.VerbPlug:
		if len(op.Ends) != 2 {
			return fmt.Errorf("two ends are needed, not %d", len(op.Ends))
		}
		return w.plug(op.Ends[0], op.Ends[1], op.Speed)
	case scenario.VerbUnplug, scenario.VerbRetrain:
		if len(op.Ends) != 1 {
			return fmt.Errorf("one end is needed, not %d", len(op.Ends))
		}
		near, _, err := w.socket(op.Ends[0])
		if err != nil {
			return err
		}
		c := w.cables[near]
		if c == nil {
			return fmt.Errorf("nothing is plugged into %s: %w", op.Ends[0], native.ErrNotFound)
		}
		if op.Verb == scenario.VerbRetrain {
			return w.retrain(c, near, op.Speed)
		}
		delete(w.cables, c.ends[0])
		delete(w.cables, c.ends[1])
		return nil
	case scenario.VerbSleep, scenario.VerbWake, scenario.VerbRestart:
		m := w.mac(op.Owner)
		if m == nil {
			return w.noMac(op.Owner)
		}
		w.applyPower(m, op.Verb)
		return nil
	case scenario.VerbSet:
		return w.set(op)
	}
	return fmt.Errorf("unknown verb %q", op.Verb)
}

func (w *World) plug(a, b scenario.End, speed native.LinkSpeed) error {
	near, nearCan, err := w.socket(a)
	if err != nil {
		return err
	}
	far, farCan, err := w.socket(b)
	if err != nil {
		return err
	}
	if near == far {
		return fmt.Errorf("a cable has two ends: %w", native.ErrExists)
	}
	for _, end := range []socket{near, far} {
		if w.cables[end] != nil {
			return fmt.Errorf("receptacle %d of %s is taken: %w", end.number, end.owner, native.ErrExists)
		}
	}
	links, err := train(nearCan, farCan, speed)
	if err != nil {
		return err
	}
	c := &cable{ends: [2]socket{near, far}, links: links}
	w.cables[near], w.cables[far] = c, c
	return nil
}

func (w *World) retrain(c *cable, near socket, speed native.LinkSpeed) error {
	far, _ := c.from(near)
	links, err := train(w.capability(near), w.capability(far), speed)
	if err != nil {
		return err
	}
	c.ends, c.links = [2]socket{near, far}, links
	return nil
}

// socket finds a receptacle and what it can do. The owner's name decides whether
// it is a hub, however the end was written.
func (w *World) socket(end scenario.End) (socket, native.ThunderboltVersion, error) {
	s := socket{owner: end.Owner, number: end.Receptacle}
	if hub := w.hubs[end.Owner]; hub != nil {
		if end.Receptacle < 0 || end.Receptacle > hub.Downstream {
			return s, "", fmt.Errorf("%s has receptacles 1 to %d and up: %w", end.Owner, hub.Downstream, native.ErrNotFound)
		}
		return s, hub.Capability, nil
	}
	m := w.mac(end.Owner)
	if m == nil {
		return s, "", fmt.Errorf("no Mac or hub %q: %w", end.Owner, native.ErrNotFound)
	}
	if m.port(end.Receptacle) == nil {
		return s, "", fmt.Errorf("%s has no receptacle %d: %w", end.Owner, end.Receptacle, native.ErrNotFound)
	}
	return s, w.capability(s), nil
}

// capability is what a receptacle that exists can do.
func (w *World) capability(s socket) native.ThunderboltVersion {
	if hub := w.hubs[s.owner]; hub != nil {
		return hub.Capability
	}
	return w.mac(s.owner).port(s.number).Capability
}
