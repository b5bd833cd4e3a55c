package policy

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"fulmen/daemon/api"
	"fulmen/native"
)

// awakeReason is what the system shows as why the Mac does not sleep.
const awakeReason = "Fulmen keeps this Mac awake for its cluster"

// Sharing is what this node lends now, as it is published.
func (p *Policy) Sharing() api.Sharing {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.record.published()
}

// SetSharing changes what is lent and gives all of it; what is left out stays.
// Errors: bad_value for a word or number out of its range, not_a_member for a
// person of no member, and not_supported_by_platform where this Mac cannot do
// what is asked: tell whether it is used, or be kept awake. A rule that could
// never be met is so refused, and not taken in silence.
func (p *Policy) SetSharing(ctx context.Context, c api.ClusterSetSharingParams) (api.Sharing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.record.copied()
	s := &next.Sharing
	s.Jobs, s.RDMAChanges = cmp.Or(c.Jobs, s.Jobs), cmp.Or(c.RDMAChanges, s.RDMAChanges)
	s.Models = cmp.Or(c.Models, s.Models)
	setTo(&s.OnlyOnPower, c.OnlyOnPower)
	setTo(&s.OnlyWhenIdle, c.OnlyWhenIdle)
	setTo(&s.IdleAfterS, c.IdleAfterS)
	setTo(&s.KeepAwake, c.KeepAwake)
	if c.MemoryMaxBytes != nil {
		if s.MemoryMaxBytes = new(*c.MemoryMaxBytes); *c.MemoryMaxBytes == 0 {
			s.MemoryMaxBytes = nil
		}
	}
	if c.JobsFrom != nil {
		for _, who := range c.JobsFrom {
			if !who.Valid() {
				return api.Sharing{}, badValue("jobs_from", "%q is not a user@NODE", who)
			}
			if !p.isHere(who.Node) {
				return api.Sharing{}, notMember(who.Node)
			}
		}
		s.JobsFrom = slices.Clone(c.JobsFrom)
		slices.SortFunc(s.JobsFrom, api.Principal.Compare)
		s.JobsFrom = slices.Compact(s.JobsFrom)
	}
	if s.OnlyWhenIdle && c.OnlyWhenIdle != nil && p.options.IdleUnknown != "" {
		return api.Sharing{}, unsupported("only_when_idle", "Fulmen cannot tell whether somebody uses this Mac, so it would never accept a job")
	}
	if err := next.check(); err != nil { // before anything is done about it
		return api.Sharing{}, err
	}
	before := p.record.Sharing.KeepAwake
	if err := p.keepAwakeLocked(ctx, s.KeepAwake); err != nil {
		return api.Sharing{}, err
	}
	if err := p.takeLocked(next); err != nil {
		return api.Sharing{}, errors.Join(err, p.keepAwakeLocked(ctx, before))
	}
	return next.published(), nil
}

// setTo changes a field where it is not left out.
func setTo[T any](field *T, to *T) {
	if to != nil {
		*field = *to
	}
}

// keepAwakeLocked holds idle sleep off, or lets it come.
func (p *Policy) keepAwakeLocked(ctx context.Context, on bool) error {
	switch {
	case on == (p.release != nil):
		return nil
	case !on:
		release := p.release
		p.release = nil
		return release()
	case p.options.KeepAwake == nil:
		return unsupported("keep_awake", "this Mac cannot be kept awake by Fulmen")
	}
	release, err := p.options.KeepAwake(ctx, awakeReason)
	if errors.Is(err, native.ErrUnsupported) {
		return unsupported("keep_awake", "this Mac cannot be kept awake by Fulmen")
	}
	if err != nil {
		return err
	}
	p.release = release
	return nil
}

func unsupported(subject, message string) error {
	return api.Errorf(api.ReasonNotSupportedByPlatform, subject, "%s", message)
}

func notMember(node api.NodeID) error {
	return api.Errorf(api.ReasonNotAMember, node.Display(), "%s is not a member of this cluster", node.Display())
}
