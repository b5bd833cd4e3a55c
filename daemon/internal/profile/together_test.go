package profile

import (
	"net/netip"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// The first of two cables is measured alone, and then with the other one.
func TestSeveralWiresTogether(t *testing.T) {
	first, second := cable(1), cable(2)
	first.Beside = []Path{second}
	onScenario(t, func(d *scenario) {
		is := is.New(t)
		d.set(func() { d.paths = []Path{first, second} })
		d.watch(api.KindLinkProfile)
		d.wait(10 * time.Second)
		took, _ := d.took()
		is.Equal(len(took), 3)
		is.Equal([]int{took[0].beside, took[1].beside, took[2].beside}, []int{0, 1, 0})
		is.Equal([]bool{took[0].full, took[1].full}, []bool{true, false})
		together := d.profile(first).Together
		is.Equal(together.Sources, []netip.Addr{first.Source, second.Source})
		is.Equal(together.Sinks, []netip.Addr{first.Sink, second.Sink})
		is.Equal(*together.UpBitsPerS, int64(100e9))
		is.True(d.profile(second).Together == nil)

		// Where it cannot be, the reason is told, and what each gives alone stays.
		d.set(func() { d.togetherFault = api.NewError(api.ReasonProtocolTooOld, "") })
		d.wait(6 * time.Minute)
		together = d.profile(first).Together
		is.True(together.UpBitsPerS == nil)
		is.Equal(together.Reason, api.ReasonProtocolTooOld)
		is.Equal(*d.profile(first).UpBitsPerS, int64(50e9))
		is.True(d.profile(first).Failure == nil)
	}, withTurn)
}

// A peer that another node begins to measure in between is asked again, for some time.
func TestTogetherWhenThePeerIsFree(t *testing.T) {
	first, second := cable(1), cable(2)
	first.Beside = []Path{second}
	onScenario(t, func(d *scenario) {
		is := is.New(t)
		d.set(func() {
			d.paths, d.togetherFault = []Path{first, second}, api.NewError(api.ReasonMeasurementRunning, "")
		})
		d.watch(api.KindLinkProfile)
		d.wait(togetherWithin / 2)
		d.set(func() { d.togetherFault = nil })
		d.wait(togetherWithin / 2)
		took, _ := d.took()
		is.Equal(took[0].beside, 0)
		is.Equal(took[1].beside, 1)
		is.Equal(took[2].beside, 1) // not the path alone again
		together := d.profile(first).Together
		is.Equal(together.Reason, api.Reason(""))
		is.Equal(*together.UpBitsPerS, int64(100e9))

		// Of one that never is, nothing is published: it is measured another time.
		d.set(func() { d.togetherFault = api.NewError(api.ReasonMeasurementRunning, "") })
		d.wait(6 * time.Minute)
		is.Equal(*d.profile(first).Together.UpBitsPerS, int64(100e9))
	}, withTurn)
}
