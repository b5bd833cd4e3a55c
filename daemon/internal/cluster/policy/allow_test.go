package policy

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

func TestCircumstancesDecide(t *testing.T) {
	anna, carl := person("anna", book), person("bob", studio)
	gib := func(n int64) *int64 { n <<= 30; return &n }
	for name, test := range map[string]struct {
		set  api.ClusterSetSharingParams
		who  api.Principal
		now  Circumstances
		as   string
		want api.Reason
	}{
		"nothing known":              {who: anna, as: "jobs"},
		"on mains":                   {who: anna, now: Circumstances{PowerSource: api.PowerMains}, as: "jobs"},
		"on battery":                 {who: anna, now: Circumstances{PowerSource: api.PowerBattery}, want: api.ReasonOnBattery},
		"on a UPS":                   {who: anna, now: Circumstances{PowerSource: api.PowerUPS}, want: api.ReasonOnBattery},
		"on battery, allowed":        {api.ClusterSetSharingParams{OnlyOnPower: new(false)}, anna, Circumstances{PowerSource: api.PowerBattery}, "jobs", ""},
		"own people on battery":      {who: carl, now: Circumstances{PowerSource: api.PowerBattery}, as: "bob"},
		"own people, nothing lent":   {api.ClusterSetSharingParams{Jobs: api.JobsNobody}, carl, Circumstances{}, "bob", ""},
		"own root":                   {who: person("root", studio), want: api.ReasonAccountForbidden},
		"own person of no account":   {who: person("zoe", studio), want: api.ReasonAccountForbidden},
		"own person with a line":     {who: person("carl", studio), as: "anna"},
		"own person who is refused":  {who: person("jobs", studio), want: api.ReasonPrincipalUnmapped},
		"idle not known":             {api.ClusterSetSharingParams{OnlyWhenIdle: new(true)}, anna, Circumstances{}, "", api.ReasonNotIdle},
		"used":                       {api.ClusterSetSharingParams{OnlyWhenIdle: new(true)}, anna, Circumstances{UserIdleS: new(299.9)}, "", api.ReasonNotIdle},
		"idle":                       {api.ClusterSetSharingParams{OnlyWhenIdle: new(true)}, anna, Circumstances{UserIdleS: new(300.0)}, "jobs", ""},
		"used, which is allowed":     {who: anna, now: Circumstances{UserIdleS: new(0.0)}, as: "jobs"},
		"nothing lent":               {api.ClusterSetSharingParams{Jobs: api.JobsNobody}, anna, Circumstances{}, "", api.ReasonJobsNotShared},
		"not on the list":            {api.ClusterSetSharingParams{Jobs: api.JobsList}, anna, Circumstances{}, "", api.ReasonJobsNotShared},
		"on the list":                {api.ClusterSetSharingParams{Jobs: api.JobsList, JobsFrom: []api.Principal{anna}}, anna, Circumstances{}, "jobs", ""},
		"a stranger":                 {who: person("anna", mini), want: api.ReasonNotAMember},
		"nobody at all":              {want: api.ReasonNotAMember},
		"within the bound":           {api.ClusterSetSharingParams{MemoryMaxBytes: gib(8)}, anna, Circumstances{WantedBytes: *gib(6), HeldBytes: *gib(2), WorkingSetBytes: gib(1)}, "jobs", ""},
		"above the bound with held":  {api.ClusterSetSharingParams{MemoryMaxBytes: gib(8)}, anna, Circumstances{WantedBytes: *gib(6), HeldBytes: *gib(2) + 1}, "", api.ReasonNotEnoughMemory},
		"above the bound alone":      {api.ClusterSetSharingParams{MemoryMaxBytes: gib(8)}, anna, Circumstances{WantedBytes: 1<<63 - 1}, "", api.ReasonNotEnoughMemory},
		"above the working set":      {who: anna, now: Circumstances{WantedBytes: *gib(9), WorkingSetBytes: gib(8)}, want: api.ReasonNotEnoughMemory},
		"no bound known":             {who: anna, now: Circumstances{WantedBytes: *gib(9000)}, as: "jobs"},
		"own people and the bound":   {api.ClusterSetSharingParams{MemoryMaxBytes: gib(1)}, carl, Circumstances{WantedBytes: *gib(6)}, "bob", ""},
		"a member's root as another": {who: person("root", book), as: "jobs"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := openRig(t)
			r.mustMap(t, api.ClusterMapUserParams{Members: true, Account: "jobs"},
				api.ClusterMapUserParams{Principal: person("carl", studio), Account: "anna"}, api.ClusterMapUserParams{Principal: person("jobs", studio)})
			_, err := r.SetSharing(t.Context(), test.set)
			is.NoErr(err)
			account, reason := r.Allows(test.who, test.now)
			is.Equal(account, test.as)
			is.Equal(reason, test.want)
		})
	}
}

func TestAnAccountIsLookedAtAgain(t *testing.T) {
	is := is.New(t)
	r := openRig(t)
	anna := person("anna", book)
	r.mustMap(t, api.ClusterMapUserParams{Principal: anna, Account: "anna"})
	for _, uid := range []uint32{0, 70} {
		r.people["anna"] = uid
		account, reason := r.Allows(anna, Circumstances{})
		is.Equal(account, "")
		is.Equal(reason, api.ReasonAccountForbidden)
	}
	delete(r.people, "anna")
	_, reason := r.Allows(anna, Circumstances{})
	is.Equal(reason, api.ReasonAccountForbidden)
}

func TestRDMAChangesAreForMembersIfAtAll(t *testing.T) {
	is := is.New(t)
	r := openRig(t)
	is.Equal(r.AllowsRDMAChange(book), api.ReasonRDMAChangesRefused)
	is.Equal(r.AllowsRDMAChange(studio), api.Reason(""))
	_, err := r.SetSharing(t.Context(), api.ClusterSetSharingParams{RDMAChanges: api.ChangesMembers})
	is.NoErr(err)
	is.Equal(r.AllowsRDMAChange(book), api.Reason(""))
	is.Equal(r.AllowsRDMAChange(mini), api.ReasonNotAMember)
	is.Equal(r.AllowsRDMAChange(""), api.ReasonNotAMember)
}

// Others place jobs by the published document; it must say what the map says.
func TestThePublishedDocumentAgreesWithTheMap(t *testing.T) {
	is := is.New(t)
	random := testkit.Fixed(t, 1).Source(2)
	nodes, users := []api.NodeID{book, mini}, []string{"anna", "bob", "carl"}
	seen := map[bool]int{}
	for range 50 {
		r := openRig(t)
		r.members[mini] = true
		for range random.IntN(8) {
			line := api.ClusterMapUserParams{}
			switch random.IntN(4) {
			case 0:
				line.Members = true
			case 1:
				line.Node = nodes[random.IntN(2)]
			default:
				line.Principal = person(users[random.IntN(3)], nodes[random.IntN(2)])
			}
			if line.Forget = random.IntN(6) == 0; !line.Forget && random.IntN(2) == 0 {
				line.Account = "jobs"
			}
			r.mustMap(t, line)
		}
		for _, node := range nodes {
			for _, user := range users {
				who := person(user, node)
				_, reason := r.Allows(who, Circumstances{})
				is.Equal(r.last().Refuses(who), reason)
				seen[reason == ""]++
			}
		}
	}
	is.True(seen[true] > 30 && seen[false] > 30)
}

// TestModelsAreSharedOnRequest: until their owner shares them nobody of another Mac reads
// models, and then those alone whom the map names, whatever is lent to jobs.
func TestModelsAreSharedOnRequest(t *testing.T) {
	is := is.New(t)
	r := openRig(t)
	anna, bob, own := person("anna", book), person("bob", book), person("bob", studio)
	r.mustMap(t, api.ClusterMapUserParams{Principal: anna, Account: "jobs"})
	check := func(who api.Principal, as string, want api.Reason) {
		t.Helper()
		account, reason := r.MayRead(who)
		is.Equal(account, as)
		is.Equal(reason, want)
	}
	check(anna, "", api.ReasonModelsNotShared)
	check(own, "bob", "")
	_, err := r.SetSharing(t.Context(), api.ClusterSetSharingParams{Models: "all"})
	is.Equal(api.AsError(err).Data.Subject, "models")
	_, err = r.SetSharing(t.Context(), api.ClusterSetSharingParams{Models: api.ModelsMapped, Jobs: api.JobsNobody})
	is.NoErr(err)
	check(anna, "jobs", "")
	check(bob, "", api.ReasonPrincipalUnmapped)
	check(person("anna", mini), "", api.ReasonNotAMember)
	_, err = r.SetSharing(t.Context(), api.ClusterSetSharingParams{Models: api.ModelsMembers})
	is.NoErr(err)
	check(anna, "jobs", "")
	check(bob, "", "") // what is public
	check(own, "bob", "")
	check(person("anna", mini), "", api.ReasonNotAMember)
	is.NoErr(r.Join(another, "", ""))
	is.Equal(r.Sharing().Models, api.ModelSharing("")) // another cluster asks again
}
