package policy

import (
	"fmt"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestALineOfTheMapIsChecked(t *testing.T) {
	anna := person("anna", book)
	for name, test := range map[string]struct {
		line api.ClusterMapUserParams
		want api.Reason
	}{
		"a person":             {api.ClusterMapUserParams{Principal: anna, Account: "anna"}, ""},
		"a person of this Mac": {api.ClusterMapUserParams{Principal: person("root", studio), Account: "jobs"}, ""},
		"a node":               {api.ClusterMapUserParams{Node: book, Account: "anna"}, ""},
		"all":                  {api.ClusterMapUserParams{Members: true, Account: "anna"}, ""},
		"a person, no account": {api.ClusterMapUserParams{Principal: anna}, ""},
		"nobody":               {api.ClusterMapUserParams{Account: "anna"}, api.ReasonBadValue},
		"two at once":          {api.ClusterMapUserParams{Principal: anna, Members: true, Account: "anna"}, api.ReasonBadValue},
		"no person":            {api.ClusterMapUserParams{Principal: person("a b", book), Account: "anna"}, api.ReasonBadValue},
		"no node":              {api.ClusterMapUserParams{Node: "j79r4zr55xd4ph65", Account: "anna"}, api.ReasonBadValue},
		"a stranger":           {api.ClusterMapUserParams{Principal: person("anna", mini), Account: "anna"}, api.ReasonNotAMember},
		"a stranger's people":  {api.ClusterMapUserParams{Node: mini, Account: "anna"}, api.ReasonNotAMember},
		"all of this Mac":      {api.ClusterMapUserParams{Node: studio, Account: "anna"}, api.ReasonBadValue},
		"root":                 {api.ClusterMapUserParams{Principal: anna, Account: "root"}, api.ReasonAccountForbidden},
		"root by another name": {api.ClusterMapUserParams{Members: true, Account: "toor"}, api.ReasonAccountForbidden},
		"a service":            {api.ClusterMapUserParams{Principal: anna, Account: "_www"}, api.ReasonAccountForbidden},
		"nobody's account":     {api.ClusterMapUserParams{Principal: anna, Account: "nobody"}, api.ReasonAccountForbidden},
		"no such account":      {api.ClusterMapUserParams{Principal: anna, Account: "zoe"}, api.ReasonBadValue},
		"a silent directory":   {api.ClusterMapUserParams{Principal: anna, Account: "broken"}, api.ReasonInternal},
		"a priority":           {api.ClusterMapUserParams{Principal: anna, Account: "anna", MaxPriority: 100}, ""},
		"too high a priority":  {api.ClusterMapUserParams{Principal: anna, Account: "anna", MaxPriority: 101}, api.ReasonBadValue},
		"a negative priority":  {api.ClusterMapUserParams{Principal: anna, Account: "anna", MaxPriority: -1}, api.ReasonBadValue},
		"nobody's priority":    {api.ClusterMapUserParams{Principal: anna, MaxPriority: 1}, api.ReasonBadValue},
		"both":                 {api.ClusterMapUserParams{Principal: anna, Account: "anna", Forget: true}, api.ReasonBadValue},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := openRig(t)
			is.Equal(reasonOf(r.MapUser(test.line)), test.want)
			is.Equal(len(r.Users(true).Users) == 1, test.want == "")
			is.Equal(r.raw != nil, test.want == "")
		})
	}
}

// How far priority counts the closest line says, also to others, and of who is named by
// none nothing counts.
func TestHowFarPriorityCounts(t *testing.T) {
	is := is.New(t)
	r := openRig(t)
	r.members[mini] = true
	anna, bob, carl := person("anna", book), person("bob", book), person("carl", mini)
	counts := func() (all []int) {
		for _, who := range []api.Principal{anna, bob, carl, person("zoe", studio)} {
			all = append(all, r.last().Priority(studio, who, 80))
		}
		is.Equal(r.last().Priority(studio, anna, -5), -5) // to be humble is everybody's right
		return all
	}
	r.mustMap(t, api.ClusterMapUserParams{Members: true, Account: "jobs"})
	is.Equal(r.last().Priorities, nil)
	is.Equal(counts(), []int{0, 0, 0, 80})
	r.mustMap(t, api.ClusterMapUserParams{Node: book, Account: "jobs", MaxPriority: 50})
	is.Equal(counts(), []int{50, 50, 0, 80})
	r.mustMap(t, api.ClusterMapUserParams{Principal: anna, Account: "jobs"}, api.ClusterMapUserParams{Members: true, Account: "jobs", MaxPriority: 90})
	is.Equal(counts(), []int{0, 50, 80, 80})
}

func TestLinesAreChangedAndForgotten(t *testing.T) {
	is := is.New(t)
	r := openRig(t)
	anna := person("anna", book)
	allows := func() string {
		account, reason := r.Allows(anna, Circumstances{})
		return account + string(reason)
	}
	for _, step := range []struct {
		line  api.ClusterMapUserParams
		want  string
		lines int
	}{
		{api.ClusterMapUserParams{Members: true, Account: "jobs"}, "jobs", 1},
		{api.ClusterMapUserParams{Node: book, Account: "bob"}, "bob", 2},
		{api.ClusterMapUserParams{Principal: anna, Account: "anna"}, "anna", 3},
		{api.ClusterMapUserParams{Principal: anna, Account: "jobs"}, "jobs", 3},
		{api.ClusterMapUserParams{Principal: anna}, "principal_unmapped", 3},
		{api.ClusterMapUserParams{Principal: anna, Forget: true}, "bob", 2},
		{api.ClusterMapUserParams{Principal: anna, Forget: true}, "bob", 2},
		{api.ClusterMapUserParams{Node: book}, "principal_unmapped", 2},
		{api.ClusterMapUserParams{Node: book, Forget: true}, "jobs", 1},
		{api.ClusterMapUserParams{Members: true}, "principal_unmapped", 0},
		{api.ClusterMapUserParams{Principal: anna}, "principal_unmapped", 1},
		{api.ClusterMapUserParams{Node: book, Account: "bob"}, "principal_unmapped", 2}, // a refusal outlives it
	} {
		r.mustMap(t, step.line)
		is.Equal(allows(), step.want)
		is.Equal(len(r.Users(true).Users), step.lines)
	}
	puts := len(r.docs)
	r.mustMap(t, api.ClusterMapUserParams{Node: book, Account: "bob"})
	is.Equal(len(r.docs), puts) // nothing new is not published
}

func TestTheMapIsBounded(t *testing.T) {
	is := is.New(t)
	r := openRig(t)
	for i := range MaxLines {
		is.NoErr(r.MapUser(api.ClusterMapUserParams{Principal: person(fmt.Sprint("u", i), book), Account: "jobs"}))
	}
	extra := api.ClusterMapUserParams{Members: true, Account: "jobs"}
	is.Equal(reasonOf(r.MapUser(extra)), api.ReasonBadValue)
	r.mustMap(t, api.ClusterMapUserParams{Principal: person("u7", book), Account: "anna"}, // a change is none more
		api.ClusterMapUserParams{Principal: person("u8", book), Forget: true}, extra)
}

func TestAccounts(t *testing.T) {
	is := is.New(t)
	accounts := people{"root": 0, "daemon": 1, "svc": 999, "anna": 1000, "nobody": 65534, "me": 998}
	system := Bounds{First: 1000}
	for name, want := range map[string]api.Reason{
		"root": api.ReasonAccountForbidden, "daemon": api.ReasonAccountForbidden, "svc": api.ReasonAccountForbidden,
		"anna": "", "nobody": api.ReasonAccountForbidden, "": api.ReasonBadValue, "zoe": api.ReasonBadValue,
	} {
		_, err := system.Check(accounts, name)
		is.Equal(reasonOf(err), want) // as root
	}
	own := Bounds{Daemon: 998, First: 1000}
	account, err := own.Check(accounts, "me")
	is.NoErr(err)
	is.Equal(account, Account{Name: "me", UID: 998})
	_, err = own.Check(accounts, "anna")
	is.Equal(reasonOf(err), api.ReasonAccountForbidden)

	root, found, err := SystemAccounts{}.Lookup("root")
	is.NoErr(err)
	is.True(found)
	is.Equal(root.UID, uint32(0))
	_, found, err = SystemAccounts{}.Lookup("no-such-account-here")
	is.NoErr(err)
	is.True(!found)
	_, err = SystemBounds().Check(SystemAccounts{}, "root")
	is.Equal(reasonOf(err), api.ReasonAccountForbidden)
}
