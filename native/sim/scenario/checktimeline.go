package scenario

import (
	"fmt"
	"slices"

	"fulmen/native/tomltext"
)

// checkTimeLine goes through the time line as it will happen, so that a plug
// into a receptacle in use is found before the simulation runs.
func (s Scenario) checkTimeLine(p *problems) {
	now := Scenario{Macs: s.Macs, Hubs: s.Hubs, Networks: s.Networks, Cables: slices.Clone(s.Cables)}
	asleep := map[string]bool{}
	for i, event := range s.TimeLine {
		if event.Op.Verb == "" {
			continue
		}
		path := fmt.Sprintf("at[%d]", i)
		if i > 0 && event.After < s.TimeLine[i-1].After {
			p.add(tomltext.Join(path, "after"), "at %d: after = %s is before the event above it (%s); put them in order of time",
				i+1, event.After, s.TimeLine[i-1].After)
		}
		err := now.CheckOp(event.Op)
		if err == nil {
			err = now.step(event.Op, asleep)
		}
		if err != nil {
			p.add(tomltext.Join(path, "do"), "at %d: %s", i+1, err)
		}
	}
}

// step applies to the cables and to who sleeps what the op does to them.
func (s *Scenario) step(op Op, asleep map[string]bool) error {
	switch op.Verb {
	case VerbPlug:
		for _, end := range op.Ends {
			if other, ok := s.other(end); ok {
				return fmt.Errorf("%s: receptacle %s is in use by then: its cable goes to %s", op, end, other)
			}
		}
		s.Cables = append(s.Cables, Cable{Ends: [2]End(op.Ends), Speed: op.Speed})
	case VerbUnplug, VerbRetrain:
		i := slices.IndexFunc(s.Cables, func(c Cable) bool { return slices.Contains(c.Ends[:], op.Ends[0]) })
		if i < 0 {
			return fmt.Errorf("%s: no cable is in receptacle %s by then", op, op.Ends[0])
		}
		if op.Verb == VerbUnplug {
			s.Cables = slices.Delete(s.Cables, i, i+1)
			return nil
		}
		// Both exist: the cable passed its own check.
		a, _ := s.Capability(s.Cables[i].Ends[0])
		b, _ := s.Capability(s.Cables[i].Ends[1])
		if err := checkSpeed(op.Speed, a, b); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	case VerbSleep, VerbWake:
		if asleep[op.Owner] == (op.Verb == VerbSleep) {
			return fmt.Errorf("%s: %s would be %s already", op, op.Owner, map[bool]string{true: "asleep", false: "awake"}[asleep[op.Owner]])
		}
		asleep[op.Owner] = op.Verb == VerbSleep
	case VerbRestart:
		asleep[op.Owner] = false
	}
	return nil
}
