package darwin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"fulmen/native"
)

// power tells of sleep and holds it off.
type power struct {
	machine *machine
	// assert holds idle sleep off under a reason until release is called.
	assert func(reason string) (release func() error, err error)

	mu   sync.Mutex
	held map[*func() error]bool
}

// Notices reports sleep and wake.
func (p *power) Notices(notice func(native.PowerNotice)) (func() error, error) {
	if err := p.machine.usable(context.Background()); err != nil {
		return nil, err
	}
	stop, err := p.machine.listeners.listen(listener{notice: notice})
	if err != nil {
		return nil, native.Unsupported(native.FeaturePowerNotices, whyNot(err))
	}
	if err := p.machine.listeners.armed(fromPower); err != nil {
		_ = stop()
		return nil, native.Unsupported(native.FeaturePowerNotices, whyNot(err))
	}
	return stop, nil
}

// Acknowledge lets the system go to sleep.
func (p *power) Acknowledge(ctx context.Context, id string) error {
	if err := p.machine.usable(ctx); err != nil {
		return err
	}
	return native.Acted(native.FeaturePowerNotices, "notice "+id, p.machine.listeners.acknowledge(id))
}

// KeepAwake holds idle sleep off; the system shows the reason (pmset -g assertions).
func (p *power) KeepAwake(ctx context.Context, reason string) (func() error, error) {
	if err := p.machine.usable(ctx); err != nil {
		return nil, err
	}
	release, err := p.assert(reason)
	if err != nil {
		return nil, native.Acted(native.FeatureKeepAwake, fmt.Sprintf("%.60q", reason), err)
	}
	once := sync.OnceValue(release)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		p.held = map[*func() error]bool{}
	}
	p.held[&once] = true
	return func() error {
		p.mu.Lock()
		delete(p.held, &once)
		p.mu.Unlock()
		return once()
	}, nil
}

// close releases what is still held.
func (p *power) close() error {
	p.mu.Lock()
	held := slices.Collect(maps.Keys(p.held))
	p.held = nil
	p.mu.Unlock()
	var err error
	for _, release := range held {
		err = errors.Join(err, (*release)())
	}
	return err
}
