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
	if err := w.scenario.Has(op); err != nil {
		return err
	}
	switch op.Verb {
	case scenario.VerbPlug:
		for _, end := range op.Ends {
			if w.cables[end] != nil {
				return fmt.Errorf("port %s is in use: %w", end, native.ErrExists)
			}
		}
		w.plug(op.Ends[0], op.Ends[1], op.Speed)
	case scenario.VerbUnplug, scenario.VerbRetrain:
		near := op.Ends[0]
		c := w.cables[near]
		if c == nil {
			return fmt.Errorf("nothing is plugged into %s: %w", near, native.ErrNotFound)
		}
		far, _ := c.from(near)
		if op.Verb == scenario.VerbRetrain {
			if err := scenario.CheckSpeed(op.Speed, w.capability(near), w.capability(far)); err != nil {
				return err
			}
			w.plug(near, far, op.Speed)
			return nil
		}
		delete(w.cables, near)
		delete(w.cables, far)
	case scenario.VerbSet:
		return w.set(op)
	case scenario.VerbIdle:
		if w.mac(op.Owner).isKeptAwake() {
			return fmt.Errorf("%s is kept awake", op.Owner)
		}
		w.applyPower(w.mac(op.Owner), op.Verb)
	default:
		w.applyPower(w.mac(op.Owner), op.Verb)
	}
	return nil
}

// plug joins two receptacles, with the speed asked for or the best of the lesser end.
func (w *World) plug(near, far scenario.End, speed native.LinkSpeed) {
	if speed == (native.LinkSpeed{}) {
		speed = scenario.BestSpeed(w.capability(near), w.capability(far))
	}
	there, back := linksOf(speed)
	c := &cable{ends: [2]scenario.End{near, far}, links: [2]native.Link{there, back}}
	w.cables[near], w.cables[far] = c, c
}

// capability is what a receptacle that exists can do.
func (w *World) capability(end scenario.End) native.ThunderboltVersion {
	can, _ := w.scenario.Capability(end)
	return can
}
