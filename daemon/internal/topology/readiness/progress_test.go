package readiness

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// scenario is a cable whose Macs somebody walks to, seen again and again.
type scenario struct {
	cable    Cable
	progress ActionsProgress
	now      time.Duration
	story    strings.Builder
}

// then changes something a minute later, and writes down what is shown.
func (d *scenario) then(what string, change func(c *Cable)) ActionsProgress {
	change(&d.cable)
	d.now += time.Minute
	d.progress = d.progress.Next([]Cable{d.cable}, d.now)
	fmt.Fprintf(&d.story, "== %s\n%s", what, strings.TrimPrefix(writtenUserActions(UserActions([]Cable{d.cable}, d.progress)), "\n"))
	return d.progress
}

func restarted(e *End, d time.Duration) { e.Identity.BootedAt = at(d) }

func TestUserActionToRecoveryTicksItselfOff(t *testing.T) {
	d := scenario{cable: pair()}
	d.then("switched off", func(c *Cable) { off(c, c.High) })
	d.then("out of reach for a moment", func(c *Cable) { c.High.Stale = true })
	d.then("back, never restarted", func(c *Cable) { c.High.Stale = false })
	d.then("shut down", func(c *Cable) { c.High.Stale, c.Down = true, true })
	d.then("back, still off", func(c *Cable) { c.High.Stale, c.Down = false, false; restarted(c.High, time.Hour) })
	d.then("shut down again", func(c *Cable) { c.High.Stale, c.Down = true, true })
	d.then("switched on, as it says, and not reached yet", func(c *Cable) { *c = pair(); restarted(c.High, 2*time.Hour); c.High.Stale = true })
	d.then("back, switched on", func(c *Cable) { c.High.Stale = false })
	d.then("some minutes later", func(*Cable) { d.now += 5 * time.Minute })
	d.then("forgotten", func(*Cable) { d.now += 5 * time.Minute })
	golden(t, "trip-recovery", d.story.String())
}

func TestUserActionThroughSettingsTicksItselfOff(t *testing.T) {
	d := scenario{cable: pair()}
	d.then("switched off", func(c *Cable) { tahoe27(c.High); off(c, c.High) })
	d.then("switched on, not restarted", func(c *Cable) { notRestarted(c.High) })
	d.then("restarting", func(c *Cable) { c.High.Stale, c.High.State = true, &api.NodeState{State: api.SelfRestarting} })
	d.then("back, and no device yet", func(c *Cable) { c.High.Stale, c.High.State = false, nil; restarted(c.High, time.Hour) })
	d.then("back, with its device", func(c *Cable) { *c = pair(); tahoe27(c.High); restarted(c.High, 2*time.Hour) })
	golden(t, "trip-settings", d.story.String())
}

func TestUserActionIsForgottenWithItsCable(t *testing.T) {
	is := is.New(t)
	d := scenario{cable: pair()}
	is.Equal(len(d.then("switched off", func(c *Cable) { off(c, c.High) })), 1)
	d.progress = d.progress.Next(nil, d.now)
	is.Equal(len(d.progress), 0)
	is.Equal(len(UserActions(nil, d.progress)), 0)
}

func TestUserActionThatIsNeededAgainBeginsAnew(t *testing.T) {
	is := is.New(t)
	d := scenario{cable: pair()}
	d.then("switched off", func(c *Cable) { off(c, c.High) })
	is.True(d.then("on", func(c *Cable) { *c = pair() })[studio2].Done)
	action := d.then("off again", func(c *Cable) { off(c, c.High) })[studio2]
	is.True(!action.Done && action.Returns == 0 && !action.Left)
	userActions := UserActions([]Cable{d.cable}, d.progress)
	is.Equal(len(userActions), 1)
	is.True(!userActions[0].Done)
}

// TestUserActionsOfThree has the price of several user actions, and one Mac with two cables once.
func TestUserActionsOfThree(t *testing.T) {
	one, two := pair(), pair()
	off(&one, one.Low)
	off(&one, one.High)
	two.Low = one.Low
	two.High = end(nodeID(3), "macbook", 1, "", "169.254.1.6/30")
	tahoe27(two.High)
	off(&two, two.High)
	two.Link = api.LinkID{Low: two.Low.End, High: two.High.End}
	golden(t, "trips-of-three", strings.TrimSpace(writtenUserActions(UserActions([]Cable{one, two}, nil)))+"\n")
}

// TestWaitsForUserAction has which situations end with a user action alone: those without any
// other thing for a person to do.
func TestWaitsForUserAction(t *testing.T) {
	want := map[string]bool{
		"person-switch-off-there": true, "person-switch-off-at-both": true, "person-switch-off-macos-27": true,
		"person-switch-off-and-away": true, "person-on-and-not-restarted": true,
	}
	for _, s := range situations() {
		c := pair()
		s.change(&c)
		if got := WaitsForUserAction(Of(c)); got != want[s.name] {
			t.Errorf("%s: %t", s.name, got)
		}
	}
}

// Where the Mac of a user action is: each case is how it was seen before and how it is now.
func TestWhereAUserActionStands(t *testing.T) {
	boot := func(d time.Duration) api.Time { return at(d) }
	state := func(s api.SelfState) *api.NodeState { return &api.NodeState{State: s} }
	for _, c := range []struct {
		name     string
		left     bool
		was, is  api.Time
		stale    bool
		state    *api.NodeState
		wantLeft bool
		returns  int
		boot     api.Time
	}{
		{"there", false, boot(0), boot(0), false, nil, false, 0, boot(0)},
		{"there, awake", false, boot(0), boot(0), false, state(api.SelfAwake), false, 0, boot(0)},
		{"restarting", false, boot(0), boot(0), false, state(api.SelfRestarting), true, 0, boot(0)},
		{"stopping", false, boot(0), boot(0), false, state(api.SelfStopping), true, 0, boot(0)},
		{"asleep", false, boot(0), boot(0), false, state(api.SelfAsleep), false, 0, boot(0)},
		{"away", false, boot(0), boot(time.Hour), true, nil, true, 0, boot(0)},
		{"back, not restarted", true, boot(0), boot(bootSlack), false, nil, false, 0, boot(bootSlack)},
		{"back, restarted", true, boot(0), boot(bootSlack + time.Second), false, nil, false, 1, boot(bootSlack + time.Second)},
		{"back, restarted by a clock that was set back", true, boot(0), boot(-bootSlack - time.Second), false, nil, false, 1, boot(-bootSlack - time.Second)},
		{"restarted unseen", false, boot(0), boot(time.Hour), false, nil, false, 1, boot(time.Hour)},
		{"back, and nobody knows whether it was restarted", true, boot(0), api.Time{}, false, nil, false, 1, boot(0)},
		{"back, and nobody knew when it was started", true, api.Time{}, boot(0), false, nil, false, 1, boot(0)},
		{"there, and nobody knows when it was started", false, api.Time{}, api.Time{}, false, nil, false, 0, api.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			e := pair().High
			e.Identity.BootedAt, e.Stale, e.State = c.is, c.stale, c.state
			got := ActionProgress{Left: c.left, Boot: c.was, Kind: api.UserActionSettings}.on(&need{end: e, kind: api.UserActionRestart})
			is.Equal(got.Left, c.wantLeft)
			is.Equal(got.Returns, c.returns)
			is.Equal(got.Boot, c.boot)
			is.Equal(got.Kind, api.UserActionSettings) // a restart ends it
			is.Equal(ActionProgress{Kind: api.UserActionSettings}.on(&need{end: e, kind: api.UserActionRecovery}).Kind, api.UserActionRecovery)
		})
	}
}

// A user action that was made is shown for a while, to the end of it.
func TestHowLongAUserActionIsShown(t *testing.T) {
	is := is.New(t)
	done := ActionsProgress{studio2: {Name: "studio-2", Done: true, DoneAt: time.Minute}}
	is.Equal(len(done.Next([]Cable{pair()}, time.Minute+shownDone-1)), 1)
	is.Equal(len(done.Next([]Cable{pair()}, time.Minute+shownDone)), 0)
}
