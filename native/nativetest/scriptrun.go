package nativetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fulmen/native"
)

// Play plays the script on a stage. Each step may wait for patience; the error
// names the line that did not hold and what was found instead.
func (s Script) Play(ctx context.Context, stage Stage, patience time.Duration) (err error) {
	p := player{stage: stage, platforms: map[string]native.Platform{}}
	for _, mac := range s.Macs() {
		if p.platforms[mac], err = stage.Platform(mac); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	if p.ears, err = newEars(ctx, p.platforms); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	defer func() { err = errors.Join(err, p.ears.stop()) }()
	for _, step := range s.steps {
		if err := p.within(ctx, patience, step); err != nil {
			return fmt.Errorf("%s.script:%d: %s: %w", s.Name, step.line, step.text, err)
		}
	}
	return nil
}

// player is a script being played.
type player struct {
	stage     Stage
	platforms map[string]native.Platform
	ears      *ears

	// mark is how much had been heard when the last change began.
	mark int
	// silent is a nohint that is to be judged, silentFrom its change's mark.
	silent     *step
	silentFrom int
}

func (p *player) within(ctx context.Context, patience time.Duration, s step) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	switch s.verb {
	case "op":
		p.mark = p.ears.now()
		return p.stage.Do(s.op)
	case "nohint":
		p.silent, p.silentFrom = &s, p.mark
		return nil
	case "hint":
		return p.hint(ctx, s)
	case "notice":
		return p.until(ctx, func() error {
			heard, _ := p.ears.since(p.mark)
			if slices.Contains(heard, announcement{mac: s.mac, notice: s.event}) {
				return nil
			}
			return fmt.Errorf("no such notice; heard since the change: %s", describe(heard))
		})
	}
	return p.until(ctx, func() error { return p.judge(ctx, s.claim) })
}

// hopeless is an error that no waiting mends.
type hopeless struct{ error }

// until tries as often as something is announced, until it holds, cannot hold or
// the context ends. Nothing that comes between a try and the waiting is missed.
func (p *player) until(ctx context.Context, try func() error) error {
	for {
		_, more := p.ears.since(0)
		err := try()
		if _, ok := err.(hopeless); ok || err == nil {
			return err
		}
		select {
		case <-more:
		case <-ctx.Done():
			return err
		}
	}
}

func (p *player) hint(ctx context.Context, s step) error {
	err := p.until(ctx, func() error {
		heard, _ := p.ears.since(p.mark)
		for _, area := range s.areas {
			if !slices.Contains(heard, announcement{mac: s.mac, area: area}) {
				return fmt.Errorf("no hint of %s; heard since the change: %s", area, describe(heard))
			}
		}
		return nil
	})
	if err != nil || p.silent == nil {
		return err
	}
	// The hint of the later change is here: whatever the earlier change had to
	// say was said before it.
	silent := *p.silent
	p.silent = nil
	heard, _ := p.ears.since(p.silentFrom)
	for i, a := range heard {
		switch {
		case a.mac != s.mac:
		case p.silentFrom+i >= p.mark && slices.Contains(s.areas, a.area):
			return nil
		case slices.Contains(silent.areas, a.area):
			return fmt.Errorf("line %d wants no hint of %s; heard since its change: %s", silent.line, a.area, describe(heard))
		}
	}
	return nil
}

// judge reads what the claim is about, now. Facts that break the contract fail
// at once, whatever the claim says.
func (p *player) judge(ctx context.Context, c claim) error {
	snapshots := make([]native.Snapshot, len(c.facts))
	for i, fact := range c.facts {
		var err error
		snapshots[i], err = p.platforms[fact.mac].Facts.Snapshot(ctx, fact.area)
		if err != nil {
			return hopeless{err}
		}
		if problems := snapshots[i].Check([]native.Area{fact.area}); len(problems) > 0 {
			return hopeless{fmt.Errorf("%s: %s", fact.mac, strings.Join(problems, "; "))}
		}
	}
	return c.judge(snapshots)
}

// describe is what was heard, in words.
func describe(heard []announcement) string {
	if len(heard) == 0 {
		return "nothing"
	}
	words := make([]string, len(heard))
	for i, a := range heard {
		words[i] = a.mac + " " + string(a.area) + string(a.notice)
	}
	return strings.Join(words, ", ")
}
