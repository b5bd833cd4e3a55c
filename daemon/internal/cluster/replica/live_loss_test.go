package replica

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// lossy sets how much is lost.
func (d *scenario) lossy(ratio float64) {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	d.net.loss = ratio
}

// A notification is lost; the number of the next one, about something else, shows it.
func TestLostNotificationIsMadeUpFor(t *testing.T) {
	onScenario(t, 2, func(is *is.I, d *scenario) {
		d.joinAll()
		defer d.watch(1, 0)()
		d.wait(time.Second)
		d.lossy(1)
		d.nodes[0].put(api.KindMemory, "", 1)
		d.wait(time.Second)
		d.lossy(0)
		is.Equal(d.nodes[1].value(d.nodes[0], api.KindMemory, ""), "")
		d.nodes[0].put(api.KindSystem, "", 1)
		d.wait(20 * time.Millisecond)
		is.Equal(d.nodes[1].value(d.nodes[0], api.KindMemory, ""), `{"n":1}`)
	})
}

// The answer to a subscription is lost: the other side works for nobody.
func TestSubscriptionThatNobodyKnowsOfEnds(t *testing.T) {
	onScenario(t, 2, func(is *is.I, d *scenario) {
		d.joinAll()
		d.wait(time.Second)
		_, err := d.calls(1, 0, methodWatch, api.PeerWatchParams{Kinds: []api.Kind{api.KindMemory}})
		is.NoErr(err)
		d.wait(time.Second)
		is.True(d.nodes[0].moving())
		d.nodes[0].put(api.KindMemory, "", 1)
		d.wait(time.Second)
		is.True(!d.nodes[0].moving())
	})
}

// Only documents of a live kind are left from a life that the writer has lost,
// and digests do not speak of those.
func TestWriterLearnsOfItsNewerVersions(t *testing.T) {
	onScenario(t, 2, func(is *is.I, d *scenario) {
		d.joinAll()
		d.wait(3 * time.Second)
		left := d.signed(1, api.Document{Kind: api.KindMemory, Inc: 1, Seq: 60_000}, nil)
		_, err := d.calls(1, 0, methodPut, putParams{Docs: []json.RawMessage{left}})
		is.NoErr(err)
		defer d.watch(0, 1)()
		d.nodes[1].put(api.KindMemory, "", 5)
		d.wait(100 * time.Millisecond)
		is.Equal(d.nodes[0].value(d.nodes[1], api.KindMemory, ""), `{"n":5}`)
	})
}
