package change

import (
	"errors"
	"fmt"

	"fulmen/daemon/api"
)

// Check returns what is wrong with a record that was read from a file.
func (r Record) Check() error {
	switch {
	case r.Change == "":
		return errors.New("it has no id")
	case !r.Link.Valid() || r.End != r.Link.Low && r.End != r.Link.High:
		return errors.New("its end is none of its cable")
	case !r.State.Valid():
		return fmt.Errorf("there is no state %q", r.State)
	case r.Interface == "":
		return errors.New("it has no interface")
	}
	for i, s := range r.Steps {
		if err := s.check(r.Interface); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

func (s Step) check(iface string) error {
	switch {
	case s.Interface != iface:
		return fmt.Errorf("it is about %q", s.Interface)
	case !s.State.Valid():
		return fmt.Errorf("there is no state %q", s.State)
	case s.What == api.RDMAStepBridge && s.Bridge != "" && s.Service == nil:
		return nil
	case s.What == api.RDMAStepService && s.Bridge == "" && s.Service != nil && s.Service.Interface == iface && len(s.Service.Addresses) == 1:
		return nil
	}
	return fmt.Errorf("a step %q has something else", s.What)
}
