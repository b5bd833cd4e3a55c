package policy

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
)

func TestNothingIsLentBeforeAPersonSaysSo(t *testing.T) {
	is := is.New(t)
	r := openRig(t)
	golden(t, "default.golden", r.last())
	is.Equal(r.Users(true).Users, []api.MappedUser{})
	_, reason := r.Allows(person("anna", book), Circumstances{})
	is.Equal(reason, api.ReasonPrincipalUnmapped)
	is.Equal(r.AllowsRDMAChange(book), api.ReasonRDMAChangesRefused)
	is.Equal(r.raw, nil) // nothing is written before there is something to keep
}

func TestAPolicyOutlivesTheDaemon(t *testing.T) {
	is := is.New(t)
	r := openRig(t)
	r.mustMap(t,
		api.ClusterMapUserParams{Members: true, Account: "jobs"},
		api.ClusterMapUserParams{Node: book},
		api.ClusterMapUserParams{Principal: person("bob", book), Account: "bob"},
		api.ClusterMapUserParams{Principal: person("anna", book)},
		api.ClusterMapUserParams{Principal: person("carl", studio), Account: "anna"},
	)
	limit, idle := int64(64<<30), 60.0
	_, err := r.SetSharing(t.Context(), api.ClusterSetSharingParams{
		Jobs: api.JobsList, JobsFrom: []api.Principal{person("zoe", book), person("bob", book), person("zoe", book)}, RDMAChanges: api.ChangesMembers,
		OnlyOnPower: new(false), OnlyWhenIdle: new(true), IdleAfterS: &idle, MemoryMaxBytes: &limit, KeepAwake: new(true),
	})
	is.NoErr(err)
	is.Equal(r.awake.holds, 1)
	is.NoErr(r.Close())
	is.Equal(r.awake.holds, 0)
	golden(t, "sharing.golden", r.last())
	golden(t, "users.golden", r.Users(true))
	var stored any
	is.NoErr(json.Unmarshal(r.raw, &stored))
	golden(t, "stored.json", stored)

	before, lines := r.last(), r.Users(true)
	r.open(t, r.options())
	is.Equal(r.last(), before)
	is.Equal(r.Sharing(), before)
	is.Equal(r.Users(true), lines)
	is.Equal(r.awake.holds, 1)
}

func TestAccountNamesStayOnTheNode(t *testing.T) {
	is := is.New(t)
	r := openRig(t)
	r.people["xyzzy"] = 700
	is.NoErr(r.Join(home, "xyzzy", ""))
	r.mustMap(t,
		api.ClusterMapUserParams{Node: book, Account: "xyzzy"},
		api.ClusterMapUserParams{Principal: person("anna", book), Account: "xyzzy"})
	is.True(!bytes.Contains(r.published, []byte("xyzzy")))
	text, err := json.Marshal(r.Users(false))
	is.NoErr(err)
	is.True(!bytes.Contains(text, []byte("xyzzy")))
	is.Equal(len(r.Users(false).Users), 3)
	is.Equal(r.Users(true).Users[0].Account, "xyzzy") // and were not taken from the map itself
	r.Users(true).Users[0].Account = "root"
	is.Equal(r.Users(true).Users[0].Account, "xyzzy")
}

func TestAnotherClusterBeginsWithAnEmptyMap(t *testing.T) {
	is := is.New(t)
	r := openRig(t)
	r.mustMap(t, api.ClusterMapUserParams{Members: true, Account: "jobs"}, api.ClusterMapUserParams{Principal: person("bob", book), Account: "bob"})
	_, err := r.SetSharing(t.Context(), api.ClusterSetSharingParams{JobsFrom: []api.Principal{person("bob", book)}, RDMAChanges: api.ChangesMembers, OnlyOnPower: new(false)})
	is.NoErr(err)
	stored := r.raw

	is.NoErr(r.Join(another, "anna", ""))
	is.Equal(r.Users(true).Users, []api.MappedUser{{Members: true, Account: "anna"}})
	s := r.last()
	is.Equal(s.JobsFrom, nil)
	is.Equal(s.RDMAChanges, api.ChangesNobody)
	is.True(!s.OnlyOnPower) // names nobody
	is.NoErr(r.Join(another, "", api.ChangesMembers))
	is.Equal(r.Users(true).Users, []api.MappedUser{})
	is.Equal(r.AllowsRDMAChange(book), api.Reason(""))

	// An answer that cannot be taken does not leave the earlier people in.
	r.records.raw = stored
	r.open(t, r.options())
	is.Equal(len(r.Users(true).Users), 2)
	is.Equal(reasonOf(r.Join(another, "root", "")), api.ReasonAccountForbidden)
	is.Equal(r.Users(true).Users, []api.MappedUser{})

	// Nor does a crash between the roster and the policy.
	r.records.raw = stored
	o := r.options()
	o.Cluster = another
	r.open(t, o)
	is.Equal(r.Users(true).Users, []api.MappedUser{})
	is.True(!r.last().MappedMembers)
}

func TestARemovedMembersPeopleAreForgotten(t *testing.T) {
	is := is.New(t)
	r := openRig(t)
	r.members[mini] = true
	r.mustMap(t,
		api.ClusterMapUserParams{Members: true, Account: "jobs"}, api.ClusterMapUserParams{Node: mini, Account: "jobs"},
		api.ClusterMapUserParams{Principal: person("bob", mini), Account: "bob"}, api.ClusterMapUserParams{Principal: person("bob", book), Account: "bob"},
		api.ClusterMapUserParams{Principal: person("carl", studio), Account: "bob"})
	_, err := r.SetSharing(t.Context(), api.ClusterSetSharingParams{JobsFrom: []api.Principal{person("bob", mini), person("bob", book)}})
	is.NoErr(err)
	puts := len(r.docs)
	is.NoErr(r.Prune())
	is.Equal(len(r.docs), puts) // nobody is gone
	delete(r.members, mini)
	_, reason := r.Allows(person("bob", mini), Circumstances{})
	is.Equal(reason, api.ReasonNotAMember) // at once
	is.NoErr(r.Prune())
	is.Equal(r.Users(true).Users, []api.MappedUser{
		{Principal: person("bob", book), Account: "bob"}, {Principal: person("carl", studio), Account: "bob"}, {Members: true, Account: "jobs"}})
	is.Equal(r.last().JobsFrom, []api.Principal{person("bob", book)})
}

func TestSharingIsChecked(t *testing.T) {
	negative, zero, endless, short := int64(-1), int64(0), 1e9, 9.9
	many := make([]api.Principal, MaxLines+1)
	for i := range many {
		many[i] = person("u"+strings.Repeat("x", i%60)+string(rune('a'+i%26))+string(rune('a'+i/26)), book)
	}
	for name, test := range map[string]struct {
		set  api.ClusterSetSharingParams
		want api.Reason
	}{
		"nothing":             {api.ClusterSetSharingParams{}, ""},
		"no such word":        {api.ClusterSetSharingParams{Jobs: "friends"}, api.ReasonBadValue},
		"no such change":      {api.ClusterSetSharingParams{RDMAChanges: "all"}, api.ReasonBadValue},
		"less than no memory": {api.ClusterSetSharingParams{MemoryMaxBytes: &negative}, api.ReasonBadValue},
		"no bound":            {api.ClusterSetSharingParams{MemoryMaxBytes: &zero}, ""},
		"idle at once":        {api.ClusterSetSharingParams{IdleAfterS: &short}, api.ReasonBadValue},
		"idle never":          {api.ClusterSetSharingParams{IdleAfterS: &endless}, api.ReasonBadValue},
		"a list of strangers": {api.ClusterSetSharingParams{JobsFrom: []api.Principal{person("anna", mini)}}, api.ReasonNotAMember},
		"a list of nobody":    {api.ClusterSetSharingParams{JobsFrom: []api.Principal{{}}}, api.ReasonBadValue},
		"an endless list":     {api.ClusterSetSharingParams{JobsFrom: many}, api.ReasonBadValue},
		"own people":          {api.ClusterSetSharingParams{JobsFrom: []api.Principal{person("anna", studio)}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := openRig(t)
			before := r.Sharing()
			test.set.KeepAwake = new(true)
			got, err := r.SetSharing(t.Context(), test.set)
			is.Equal(reasonOf(err), test.want)
			if test.want == "" {
				is.Equal(r.awake.holds, 1)
				is.Equal(got, r.last())
				return
			}
			is.Equal(r.Sharing(), before) // all or nothing
			is.Equal(r.awake.holds, 0)
			is.Equal(r.raw, nil)
		})
	}
}

func TestWhatThisMacCannotDoIsRefused(t *testing.T) {
	is := is.New(t)
	r := newRig()
	o := r.options()
	o.IdleUnknown = api.ReasonNotSupportedByPlatform
	r.awake.err = native.Unsupported(native.FeatureKeepAwake, native.ReasonNoPlatform)
	r.open(t, o)
	for _, set := range []api.ClusterSetSharingParams{{OnlyWhenIdle: new(true)}, {KeepAwake: new(true)}} {
		_, err := r.SetSharing(t.Context(), set)
		is.Equal(reasonOf(err), api.ReasonNotSupportedByPlatform)
	}
	_, err := r.SetSharing(t.Context(), api.ClusterSetSharingParams{OnlyWhenIdle: new(false), KeepAwake: new(false), Jobs: api.JobsNobody})
	is.NoErr(err)

	// A rule from before, that cannot be met any more, does not stop others from being changed.
	r.open(t, r.options())
	_, err = r.SetSharing(t.Context(), api.ClusterSetSharingParams{OnlyWhenIdle: new(true)})
	is.NoErr(err)
	r.open(t, o)
	got, err := r.SetSharing(t.Context(), api.ClusterSetSharingParams{Jobs: api.JobsMapped})
	is.NoErr(err)
	is.True(got.OnlyWhenIdle)
}

func TestWhatIsNotOnDiskDoesNotCount(t *testing.T) {
	is := is.New(t)
	r := openRig(t)
	r.mustMap(t, api.ClusterMapUserParams{Members: true, Account: "jobs"})
	before := r.Sharing()
	r.full = true
	_, err := r.SetSharing(t.Context(), api.ClusterSetSharingParams{Jobs: api.JobsNobody, KeepAwake: new(true)})
	is.True(err != nil)
	is.True(r.MapUser(api.ClusterMapUserParams{Node: book, Account: "anna"}) != nil)
	is.Equal(r.Sharing(), before)
	is.Equal(r.last(), before)
	is.Equal(r.awake.holds, 0)
}
