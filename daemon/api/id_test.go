package api

import (
	"encoding"
	"encoding/json"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

// id is what all ids have in common.
type id interface {
	comparable
	String() string
	encoding.TextMarshaler
}

// checkID goes through what holds for every id: the wire form round-trips in
// JSON, is the only accepted one there, and parses from what people write.
func checkID[T id](t *testing.T, parse func(string) (T, error), value T, wire string, typed ...string) {
	t.Helper()
	is := is.New(t)
	is.Equal(value.String(), wire)
	raw, err := json.Marshal(value)
	is.NoErr(err)
	is.Equal(string(raw), `"`+wire+`"`)
	var back T
	is.NoErr(json.Unmarshal(raw, &back))
	is.Equal(back, value)
	for _, s := range append(typed, wire) {
		got, err := parse(s)
		is.NoErr(err)
		is.Equal(got, value)
		var strict T
		err = json.Unmarshal([]byte(`"`+s+`"`), &strict)
		is.Equal(err == nil, s == wire) // the wire has one spelling
	}
	var zero T
	_, err = zero.MarshalText()
	is.True(err != nil || reflect.TypeFor[T]() == reflect.TypeFor[Time]()) // an unset id never leaves
}

// checkRefused goes through inputs that no parser takes, and asks of each
// error that it names the field and the remedy.
func checkRefused[T any](t *testing.T, parse func(string) (T, error), inputs ...string) {
	t.Helper()
	for _, in := range inputs {
		_, err := parse(in)
		e := AsError(err)
		if err == nil || !e.Is(ReasonMalformedID) || e.Data.Remedy == "" || e.Data.Subject == "" {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestIDs(t *testing.T) {
	a, b := testNode(1), testNode(2)
	if a > b {
		a, b = b, a
	}
	t.Run("node", func(t *testing.T) { checkID(t, ParseNodeID, a, string(a), a.Display()) })
	t.Run("cluster", func(t *testing.T) {
		c := ClusterIDFromEntry([]byte("first"))
		checkID(t, ParseClusterID, c, "a7937b64b8caa58f03721bb6bacf5c78", strings.ToUpper(c.String()))
		checkRefused(t, ParseClusterID, "", "a7", c.String()+"0", "g"+c.String()[1:])
	})
	t.Run("job", func(t *testing.T) {
		checkID(t, ParseJobID, JobID("j4k2m9xq7"), "j4k2m9xq7", "J4K2M9XQ7", "j-4k2m-9xq7")
		checkID(t, ParseJobID, JobID("j00001111"), "j00001111", "joO0o1lLi")
		checkRefused(t, ParseJobID, "", "j", "4k2m9xq7j", "j4k2m9xqu", "j4k2m9xq", "j4k2m9xq77", "m4k2m9xq7")
		is := is.New(t)
		is.True(NewJobID().Valid())
		first, second := NewJobID(), NewJobID()
		is.True(first != second) // drawn at random
	})
	t.Run("measurement", func(t *testing.T) {
		checkID(t, ParseMeasureID, MeasureID("m4k2m9xq7"), "m4k2m9xq7", "M4K2M9XQ7")
		checkRefused(t, ParseMeasureID, "", "j4k2m9xq7")
		is.New(t).True(NewMeasureID().Valid())
	})
	t.Run("rank", func(t *testing.T) {
		checkID(t, ParseRankRef, RankRef{"j4k2m9xq7", 2, 0}, "j4k2m9xq7/2/0", "J4K2M9XQ7/2/0")
		checkRefused(t, ParseRankRef, "", "j4k2m9xq7", "j4k2m9xq7/2", "j4k2m9xq7/0/0", "j4k2m9xq7/1/-1",
			"j4k2m9xq7/01/0", "j4k2m9xq7/1/+0", "j4k2m9xq7/1/0/0", "j4k2m9xq7/99999/0", "x/1/0", "j4k2m9xq7/1/99999999999999999999")
	})
	t.Run("link end", func(t *testing.T) {
		checkID(t, ParseLinkEnd, LinkEnd{a, 3}, string(a)+":3", a.Display()+":3")
		checkRefused(t, ParseLinkEnd, "", string(a), string(a)+":", string(a)+":0", string(a)+":256", string(a)+":03", ":3", "x:3")
	})
	t.Run("link", func(t *testing.T) {
		l, err := NewLinkID(LinkEnd{b, 3}, LinkEnd{a, 10})
		is.New(t).NoErr(err)
		checkID(t, ParseLinkID, l, string(a)+":10~"+string(b)+":3", string(b)+":3~"+string(a)+":10")
		same, err := NewLinkID(LinkEnd{a, 10}, LinkEnd{a, 9})
		is.New(t).NoErr(err)
		checkID(t, ParseLinkID, same, string(a)+":9~"+string(a)+":10", string(a)+":10~"+string(a)+":9") // 9 < 10 as numbers
		checkRefused(t, ParseLinkID, "", "~", string(a)+":1", string(a)+":1~"+string(a)+":1", string(a)+":1~"+string(b))
	})
	t.Run("principal", func(t *testing.T) {
		checkID(t, ParsePrincipal, Principal{"anna", a}, "anna@"+string(a), "anna@"+a.Display())
		p, err := ParsePrincipal(`CORP\Anna.B@` + string(a))
		is.New(t).NoErr(err)
		is.New(t).Equal(p, Principal{`CORP\Anna.B`, a}) // directory accounts, case kept
		checkRefused(t, ParsePrincipal, "", "@"+string(a), "anna", "anna@", "anna@x", "-a@"+string(a), "a b@"+string(a),
			"a/b@"+string(a), "a@b@"+string(a), strings.Repeat("a", 65)+"@"+string(a), "ä@"+string(a))
	})
	t.Run("peer address", func(t *testing.T) {
		checkID(t, ParsePeerAddress, PeerAddress{a, netip.MustParseAddr("10.0.0.7")}, string(a)+"/10.0.0.7", string(a)+"/::ffff:10.0.0.7")
		checkID(t, ParsePeerAddress, PeerAddress{a, netip.MustParseAddr("fe80::1%en5")}, string(a)+"/fe80::1%en5", a.Display()+"/FE80:0::1%en5")
		checkRefused(t, ParsePeerAddress, "", string(a), string(a)+"/", string(a)+"/x", string(a)+"/10.0.0.7:1", string(a)+"/fe80::1%a/b", "x/10.0.0.7")
	})
	t.Run("time", func(t *testing.T) {
		at := TimeOf(time.Date(2026, 11, 21, 12, 0, 0, 7_999_999, time.FixedZone("", 3600)))
		checkID(t, ParseTime, at, "2026-11-21T11:00:00.007Z", "2026-11-21T12:00:00.007999+01:00")
		checkRefused(t, ParseTime, "", "2026-11-21", "2026-11-21T11:00:00", "2026-13-21T11:00:00Z")
	})
	t.Run("receptacle", func(t *testing.T) {
		is := is.New(t)
		r, err := ParsePortNumber("255")
		is.NoErr(err)
		is.Equal(r, PortNumber(255))
		checkRefused(t, ParsePortNumber, "", "0", "256", "-1", "01", " 1", "x")
	})
}

func TestLinkEndOfNode(t *testing.T) {
	is := is.New(t)
	l, err := NewLinkID(LinkEnd{testNode(1), 1}, LinkEnd{testNode(2), 3})
	is.NoErr(err)
	end, ok := l.End(testNode(2))
	is.True(ok)
	is.Equal(end.PortNumber, PortNumber(3))
	_, ok = l.End(testNode(3))
	is.True(!ok)
}
