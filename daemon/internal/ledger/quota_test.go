package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// flood is documents that one writer signs one after the other.
type flood struct {
	t   testing.TB
	by  byte
	seq uint64
}

func (f *flood) next(kind api.Kind, name string, value json.RawMessage) api.Document {
	f.seq++
	return signed(f.t, f.by, api.Document{Kind: kind, Name: name, Inc: 1, Seq: f.seq, Value: value, Deleted: value == nil})
}

// receptacles are names that there may be any number of.
func portNumber(i int) string { return fmt.Sprint(i + 1) }

// address is where a peer is.
func address(i int) string { return fmt.Sprintf("%s/10.0.%d.%d", testNode(3), i/250, i%250) }

// isOver reports whether a document was refused because of a quota.
func isOver(got Outcome, err error) bool {
	return got == Refused && errors.Is(err, api.ReasonTooManyDocuments)
}

func TestDocumentsOfOneWriterAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("much of one thing after the other")
	}
	big := func(n int) json.RawMessage { return json.RawMessage(`{"t":"` + strings.Repeat("x", n) + `"}`) }
	elements := func(n int) json.RawMessage { return json.RawMessage(`{"t":[` + strings.Repeat("{},", n) + `{}]}`) }
	job := func(i int) string { return fmt.Sprintf("j%08d", i) }
	for _, tt := range []struct {
		name  string
		kinds []api.Kind
		named func(int) string
		value json.RawMessage
		want  int
		bound string
	}{
		{"by their number", []api.Kind{api.KindThunderbolt}, portNumber, value(1), 64, "64 documents"},
		{"of unknown kinds together", []api.Kind{"next", "next-but-one"}, portNumber, value(1), 64, "64 documents"},
		{"by their bytes", []api.Kind{api.KindThunderbolt}, portNumber, big(209_190), 10, "2048 KiB"},
		{"by their elements", []api.Kind{api.KindThunderbolt}, portNumber, elements(20_000), 2, "2048 KiB"},
		{"over all kinds", []api.Kind{api.KindJob, api.KindLinkProfile}, nil, elements(7_150), 66, "16384 KiB of all kinds"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			reported := 0
			r := newRig(t, func(o *Options) { o.OnOver = func() { reported++ } })
			hostile, other := &flood{t: t, by: 2}, &flood{t: t, by: 3}
			taken, refused, name := 0, 0, tt.named
			for i := range 2 * tt.want {
				kind := tt.kinds[i%len(tt.kinds)]
				if tt.named == nil {
					name = map[api.Kind]func(int) string{api.KindJob: job, api.KindLinkProfile: address}[kind]
				}
				got, err := r.PutForeign(hostile.next(kind, name(i), tt.value))
				if got == Taken {
					taken++
					is.NoErr(err)
					continue
				}
				is.True(isOver(got, err))
				text := api.AsError(err).Message
				is.True(strings.Contains(text, testNode(2).Display()) && (strings.Contains(text, tt.bound) || tt.named == nil))
				refused++
			}
			t.Logf("%d were taken", taken)
			is.True(taken >= tt.want*9/10 && taken <= tt.want)
			is.Equal(len(r.List(Filter{})), taken)
			// Others are not affected, and the writer can change and delete what it has.
			got, err := r.PutForeign(other.next(tt.kinds[0], map[bool]string{true: job(0), false: "1"}[tt.kinds[0] == api.KindJob], tt.value))
			is.NoErr(err)
			is.Equal(got, Taken)
			held := r.List(Filter{Nodes: []api.NodeID{testNode(2)}})[0].Key()
			for _, v := range []json.RawMessage{append(tt.value[:len(tt.value)-1:len(tt.value)-1], `,"more":"`+strings.Repeat("x", 5000)+`"}`...), nil} {
				got, err = r.PutForeign(hostile.next(held.Kind, held.Name, v))
				is.NoErr(err)
				is.Equal(got, Taken)
			}
			got, err = r.PutForeign(hostile.next(held.Kind, held.Name, tt.value)) // there is room again
			is.NoErr(err)
			is.Equal(got, Taken)
			// It is one thing that is told, and ends.
			over := r.OverQuota()
			is.True(len(over) >= 1 && len(over) <= len(tt.kinds))
			is.Equal(reported, len(over))
			is.Equal(over[0].Node, testNode(2))
			sum := uint64(0)
			for _, o := range over {
				sum += o.Refused
			}
			is.Equal(sum, uint64(refused))
			r.clock.step(OverFor + time.Second)
			is.Equal(len(r.OverQuota()), 0)
		})
	}
}

// Who adds members of its own making has no more room by them all than is there, and
// takes none from those that hold little.
func TestDocumentsOfAllOthersAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("much of one thing after the other")
	}
	is := is.New(t)
	const writers = 8
	var members []byte
	for i := range writers + 1 {
		members = append(members, byte(i+1))
	}
	r := newRig(t, func(o *Options) { o.Members = testRoster(members...) })
	text := json.RawMessage(`{"t":[` + strings.Repeat("{},", 20_000) + `{}]}`) // heavy, and fast to sign
	weight := (&api.Document{Value: text}).Weight()
	for _, by := range members[1:] {
		f := &flood{t: t, by: by}
		for i := 0; ; i++ {
			got, err := r.PutForeign(f.next(api.KindJob, fmt.Sprintf("j%08d", i), text))
			if isOver(got, err) {
				break
			}
			is.NoErr(err)
		}
	}
	r.mu.Lock()
	held := r.foreign
	r.mu.Unlock()
	t.Logf("%d MiB", held>>20)
	is.True(held > api.MaxForeignBytes && held <= 2*api.MaxForeignBytes)
	for _, by := range members[1:] {
		n := len(r.List(Filter{Nodes: []api.NodeID{testNode(by)}}))
		is.True(n*weight > api.MaxForeignBytes/writers-2*weight)
		if by == members[writers] {
			is.True(n*weight < api.KindJob.Quota().Bytes*3/4)
		}
	}
}

// Deletions are kept up to a number, those of the newest versions, here and in the
// store; what is held can be deleted all the same.
func TestDeletionsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("much of one thing after the other")
	}
	is := is.New(t)
	r := newRig(t)
	f := &flood{t: t, by: 2}
	most := api.KindLinkProfile.Quota().Deleted
	oldest := f.next(api.KindLinkProfile, address(9000), value(1))
	_, err := r.PutForeign(oldest)
	is.NoErr(err)
	end := f.next(api.KindLinkProfile, address(9000), nil)
	for i := range 3 * most {
		_, err := r.PutForeign(f.next(api.KindLinkProfile, address(i), nil))
		is.NoErr(err)
	}
	ports := api.KindThunderbolt.Quota().Deleted
	for i := range 3 * ports {
		is.NoErr(r.w.Put(Draft{Kind: api.KindThunderbolt, Name: portNumber(i), Value: value(1)}))
		is.NoErr(r.w.Delete(api.KindThunderbolt, portNumber(i)))
	}
	count := func(node byte, kind api.Kind) (n int) {
		for _, rec := range r.List(Filter{Nodes: []api.NodeID{testNode(node)}, Kinds: []api.Kind{kind}, Deleted: true}) {
			is.True(rec.Deleted() || rec.Key() == oldest.Key())
			n++
		}
		return n
	}
	is.Equal(count(2, api.KindLinkProfile), most+1)
	is.Equal(count(1, api.KindThunderbolt), ports)
	_, isHeld := r.Latest(api.Key{Node: testNode(2), Kind: api.KindLinkProfile, Name: address(2*most - 1)})
	is.True(!isHeld)
	_, isHeld = r.Latest(api.Key{Node: testNode(2), Kind: api.KindLinkProfile, Name: address(2 * most)})
	is.True(isHeld)
	_, w := r.Watch(WatchOptions{})
	defer w.Close()
	got, err := r.PutForeign(end)
	is.NoErr(err)
	is.Equal(got, Taken)
	is.Equal(count(2, api.KindLinkProfile), most)
	c, ok, err := w.take()
	is.NoErr(err)
	is.True(ok && len(c.Del) == 1) // it ended for those who watch
	is.Equal(len(r.store.docs), most)
	r.restart(t)
	is.Equal(count(2, api.KindLinkProfile), most)
}

// Nobody uses up the quota of another one, or has it told to be over.
func TestForgedDocumentsUseNobodysQuota(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	f := &flood{t: t, by: 2}
	for i := range 64 {
		_, err := r.PutForeign(f.next(api.KindThunderbolt, portNumber(i), value(1)))
		is.NoErr(err)
	}
	forged := (&flood{t: t, by: 3}).next(api.KindThunderbolt, "99", value(1))
	forged.Node = testNode(2)
	got, err := r.PutForeign(forged)
	is.Equal(got, Refused)
	is.True(errors.Is(err, api.ReasonBadSignature))
	key := api.Key{Node: testNode(2), Kind: api.KindThunderbolt, Name: "99"}
	is.True(errors.Is(r.Fits(key, testNode(3)), api.ReasonTooManyDocuments)) // who offers it proves nothing
	is.Equal(len(r.OverQuota()), 0)
	is.True(r.Fits(key, testNode(2)) != nil)
	is.Equal(len(r.OverQuota()), 1)
	_, err = r.PutForeign(f.next(api.KindThunderbolt, "1", nil))
	is.NoErr(err)
	is.True(r.Fits(key, testNode(3)) != nil) // not at once again
	r.clock.step(OverFor + time.Second)
	is.NoErr(r.Fits(key, testNode(3)))
	is.NoErr(r.Forget(testNode(2)))
	is.Equal(len(r.OverQuota()), 0)
	is.NoErr(r.Fits(key, testNode(2)))
}

// This node writes nothing new that nobody would keep.
func TestOwnDocumentsBeyondTheQuotaAreNotWritten(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	for i := range 64 {
		is.NoErr(r.w.Put(Draft{Kind: api.KindThunderbolt, Name: portNumber(i), Value: value(1)}))
	}
	is.True(errors.Is(r.w.Put(Draft{Kind: api.KindThunderbolt, Name: "65", Value: value(1)}), api.ReasonTooManyDocuments))
	is.NoErr(r.w.Put(Draft{Kind: api.KindThunderbolt, Name: "64", Value: value(2)}))
	is.NoErr(r.w.Delete(api.KindThunderbolt, "64"))
	is.NoErr(r.w.Put(Draft{Kind: api.KindThunderbolt, Name: "65", Value: value(1)}))
	for i := range 100 { // what stays here is nobody's business
		is.NoErr(r.w.Put(Draft{Kind: api.KindPending, Name: string(testNode(byte(i % 30))), Value: value(1)}))
	}
}

// What an older version has stored beyond the quotas goes at the start.
func TestStoredDocumentsBeyondTheQuotaAreForgotten(t *testing.T) {
	if testing.Short() {
		t.Skip("much of one thing after the other")
	}
	is := is.New(t)
	r := newRig(t)
	f := &flood{t: t, by: 2}
	text := json.RawMessage(`{"t":"` + strings.Repeat("x", api.MaxValueBytes-100) + `"}`)
	var docs []api.Document
	for i := range 50 {
		docs = append(docs, f.next(api.KindLinkProfile, address(i), text))
	}
	is.NoErr(r.store.Save(docs, nil))
	r.restart(t)
	kept := len(r.List(Filter{}))
	is.True(kept > 0 && kept*api.MaxValueBytes <= api.KindLinkProfile.Quota().Bytes+api.MaxValueBytes)
	is.Equal(len(r.store.docs), kept)
	is.Equal(len(r.Skipped()), 50-kept)
}
