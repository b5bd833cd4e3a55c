package replica

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// calls is what a member says to another, whatever it likes.
func (d *scenario) calls(from, to int, method string, params any) (json.RawMessage, error) {
	raw, isRaw := params.([]byte)
	if !isRaw {
		var err error
		if raw, err = json.Marshal(params); err != nil {
			d.t.Fatal(err)
		}
	}
	answer, err := d.nodes[to].replica.Handlers()[method](context.Background(), d.nodes[from].identity.Node, raw)
	if err != nil {
		return nil, err
	}
	out, err := json.Marshal(answer)
	if err != nil {
		d.t.Fatal(err)
	}
	return out, nil
}

// signed is a document with the signature of a node, changed after that.
func (d *scenario) signed(by int, doc api.Document, ruin func(*api.Document)) json.RawMessage {
	d.t.Helper()
	m := d.nodes[by]
	doc.Node, doc.At = m.identity.Node, api.TimeOf(time.Now())
	if doc.Value == nil && !doc.Deleted {
		doc.Value = json.RawMessage(`{"n":1}`)
	}
	if err := doc.Sign(m.holder.Current().Cluster(), m.identity.Key()); err != nil {
		d.t.Fatal(err)
	}
	if ruin != nil {
		ruin(&doc)
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		d.t.Fatal(err)
	}
	return raw
}

func TestWhatIsBadIsRefusedAndTheRestTaken(t *testing.T) {
	onScenario(t, 4, func(is *is.I, d *scenario) {
		nonMember := &member{scenario: d, identity: identityOf(77), holder: d.nodes[0].holder}
		d.nodes = append(d.nodes, nonMember)
		good := api.Document{Kind: api.KindThunderbolt, Name: "1", Inc: 9, Seq: 9}
		held, _ := d.nodes[0].ledger.Latest(api.Key{Node: d.nodes[0].identity.Node, Kind: api.KindIdentity})
		replayed, _ := held.JSON()
		docs := []json.RawMessage{
			d.signed(1, good, nil),
			d.signed(1, api.Document{Kind: api.KindThunderbolt, Name: "2", Inc: 9, Seq: 9}, func(x *api.Document) { x.Value = json.RawMessage(`{"n":2}`) }),
			d.signed(1, api.Document{Kind: api.KindThunderbolt, Name: "3", Inc: 9, Seq: 9}, func(x *api.Document) { x.Node = d.nodes[2].identity.Node }),
			d.signed(1, api.Document{Kind: api.KindSharing, Inc: 9, Seq: 9}, func(x *api.Document) { x.Node = d.nodes[0].identity.Node }),
			d.signed(4, api.Document{Kind: api.KindSharing, Inc: 9, Seq: 9}, nil),
			d.signed(1, api.Document{Kind: api.KindSharing, Inc: 9, Seq: 9}, func(x *api.Document) { x.Sig = x.Sig[:20] }),
			d.signed(1, api.Document{Kind: api.KindPending, Name: string(d.nodes[2].identity.Node), Inc: 9, Seq: 9}, nil),
			json.RawMessage(`null`), json.RawMessage(`7`), json.RawMessage(`{"node":3}`), json.RawMessage(`{}`),
			replayed,
			d.signed(2, good, nil),
		}
		before := d.nodes[0].view()
		answer, err := d.calls(3, 0, methodPut, putParams{Docs: docs})
		is.NoErr(err)
		var result api.PeerPutResult
		is.NoErr(json.Unmarshal(answer, &result))
		reasons := map[api.Reason]int{}
		for _, c := range result.Refused {
			reasons[c.Reason]++
		}
		is.Equal(reasons, map[api.Reason]int{api.ReasonBadSignature: 4, api.ReasonNotAMember: 3, api.ReasonBadValue: 1, api.ReasonMalformedDocument: 2})
		is.Equal(len(d.nodes[0].view()), len(before)+2)
		is.Equal(d.nodes[0].value(d.nodes[1], good.Kind, good.Name), `{"n":1}`)
		is.Equal(d.nodes[0].value(d.nodes[2], good.Kind, good.Name), `{"n":1}`)
	})
}

func TestNonMembersAndRemovedNodesAreRefused(t *testing.T) {
	onScenario(t, 3, func(is *is.I, d *scenario) {
		d.join(0, 1)
		d.nodes[0].remove(d.nodes[2])
		d.nodes = append(d.nodes, &member{scenario: d, identity: identityOf(77)})
		d.wait(time.Second)
		for method := range d.nodes[0].replica.Handlers() {
			for _, from := range []int{2, 3, 0} { // 0 is itself
				_, err := d.calls(from, 0, method, map[string]any{})
				is.True(errors.Is(err, api.ReasonNotAMember))
			}
		}
	})
}

func TestMalformedCallsAreErrorsAndLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var log bytes.Buffer
		d := newScenario(t, 2)
		defer d.close()
		d.nodes[0].stop()
		d.log = slog.New(slog.NewTextHandler(&log, nil))
		d.nodes[0].start()
		for method := range d.nodes[0].replica.Handlers() {
			for _, bad := range []string{"", "null{", "[]", `{"docs":7,"have":7,"keys":7,"kinds":7,"sub":7}`, "\xff", strings.Repeat("[", 100_000),
				`{"docs":[` + strings.Repeat(`"x",`, 300_000) + `0]}`} {
				_, err := d.calls(1, 0, method, []byte(bad))
				is.True(errors.Is(err, api.ReasonMalformedMessage))
			}
		}
		_, err := d.calls(1, 0, methodWatch, api.PeerWatchParams{Kinds: []api.Kind{api.KindJob}})
		is.True(errors.Is(err, api.ReasonBadValue))
		_, err = d.calls(1, 0, methodWatch, api.PeerWatchParams{})
		is.True(errors.Is(err, api.ReasonBadValue))
		is.Equal(strings.Count(log.String(), "\n"), 1)
		d.wait(61 * time.Second)
		d.calls(1, 0, methodPut, []byte("["))
		is.Equal(strings.Count(log.String(), "\n"), 2)
		is.True(strings.Contains(log.String(), "more=43"))
	})
}

func TestSubscriptionsOfOneMemberAreBounded(t *testing.T) {
	onScenario(t, 2, func(is *is.I, d *scenario) {
		for range 50 {
			_, err := d.calls(1, 0, methodWatch, api.PeerWatchParams{Kinds: []api.Kind{api.KindMemory}})
			is.NoErr(err)
		}
		d.wait(time.Second)
		subscribers, _ := d.nodes[0].ledger.Watchers()
		is.True(subscribers <= maxServices+1)
		d.nodes[0].replica.PeerUp(d.nodes[1].identity.Node)
		d.nodes[0].replica.PeerDown(d.nodes[1].identity.Node)
		d.wait(time.Second)
		is.True(!d.nodes[0].moving())
	})
}

// A member that offers what it does not give, and wants what is not there.
func TestLiarsAreNotBelieved(t *testing.T) {
	onScenario(t, 3, func(is *is.I, d *scenario) {
		d.joinAll()
		d.agreedWithin(time.Second)
		d.wait(2 * time.Second)
		before := d.nodes[0].view()
		var offer []api.KeyVersion
		for i := range 2000 {
			offer = append(offer, api.KeyVersion{Key: api.Key{Node: d.nodes[2].identity.Node, Kind: api.KindThunderbolt, Name: fmt.Sprint(i)}, Version: api.Version{Inc: 1 << 50, Seq: 1}})
		}
		d.net.total()
		_, err := d.calls(1, 0, methodPut, api.PeerPutParams{Docs: []api.Document{}, Offer: offer, Missed: []api.NodeID{d.nodes[2].identity.Node}})
		is.NoErr(err)
		_, err = d.calls(1, 0, methodDigest, api.PeerDigestParams{Have: []api.NodeVersion{{Node: identityOf(88).Node}, {Node: d.nodes[0].identity.Node}}, After: &api.Key{Node: identityOf(88).Node}, Upto: &api.Key{Node: identityOf(89).Node}})
		is.NoErr(err)
		_, err = d.calls(1, 0, methodPull, api.PeerPullParams{Keys: []api.Key{{Node: d.nodes[0].identity.Node, Kind: api.KindPending}, {Node: identityOf(88).Node, Kind: "x"}}})
		is.NoErr(err)
		_, err = d.calls(1, 0, methodRoster, api.PeerRosterParams{Have: []string{"x"}, Entries: []json.RawMessage{[]byte(`{"entry":{},"sig":"AAAA"}`), []byte(`[]`)}})
		is.NoErr(err)
		d.wait(time.Minute)
		is.Equal(len(d.nodes[0].view()), len(before))
		is.Equal(d.disagreement(), "")
		r := d.nodes[0].replica
		r.mu.Lock()
		defer r.mu.Unlock()
		is.Equal(len(r.pulling), 0)
		is.True(d.net.count(methodPull) < 30)
	})
}

// Secrets that a node keeps to itself cannot be asked for.
func TestPendingIsNotGiven(t *testing.T) {
	onScenario(t, 2, func(is *is.I, d *scenario) {
		name := string(d.nodes[1].identity.Node)
		d.nodes[0].put(api.KindPending, name, 1)
		key := api.Key{Node: d.nodes[0].identity.Node, Kind: api.KindPending, Name: name}
		_, isHeld := d.nodes[0].ledger.Latest(key)
		is.True(isHeld)
		for method, params := range map[string]any{
			methodPull:   api.PeerPullParams{Keys: []api.Key{key}},
			methodDigest: api.PeerDigestParams{Have: []api.NodeVersion{{Node: key.Node}}},
		} {
			answer, err := d.calls(1, 0, method, params)
			is.NoErr(err)
			is.True(!strings.Contains(string(answer), string(api.KindPending)))
		}
		is.Equal(len(d.nodes[0].ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindPending}})), 1)
	})
}
