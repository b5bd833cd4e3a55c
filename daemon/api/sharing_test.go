package api

import (
	"testing"

	"github.com/matryer/is"
)

func TestTheClosestRuleSaysWhoIsMapped(t *testing.T) {
	const book, mini NodeID = "cpv0cwypxp44qw0p", "j79r4zr55xd4ph64"
	anna, bob := Principal{User: "anna", Node: book}, Principal{User: "bob", Node: mini}
	for name, test := range map[string]struct {
		sharing   Sharing
		anna, bob Reason
	}{
		"nobody is mapped":              {Sharing{Jobs: JobsMapped}, ReasonPrincipalUnmapped, ReasonPrincipalUnmapped},
		"nothing is said":               {Sharing{Mapped: []Principal{anna}}, ReasonJobsNotShared, ReasonJobsNotShared},
		"a word of a newer version":     {Sharing{Jobs: "friends", Mapped: []Principal{anna}}, ReasonJobsNotShared, ReasonJobsNotShared},
		"nobody's jobs":                 {Sharing{Jobs: JobsNobody, Mapped: []Principal{anna}}, ReasonJobsNotShared, ReasonJobsNotShared},
		"a person":                      {Sharing{Jobs: JobsMapped, Mapped: []Principal{anna}}, "", ReasonPrincipalUnmapped},
		"a node":                        {Sharing{Jobs: JobsMapped, MappedNodes: []NodeID{mini}}, ReasonPrincipalUnmapped, ""},
		"all":                           {Sharing{Jobs: JobsMapped, MappedMembers: true}, "", ""},
		"all but a person":              {Sharing{Jobs: JobsMapped, MappedMembers: true, Unmapped: []Principal{anna}}, ReasonPrincipalUnmapped, ""},
		"all but a node":                {Sharing{Jobs: JobsMapped, MappedMembers: true, UnmappedNodes: []NodeID{mini}}, "", ReasonPrincipalUnmapped},
		"a person of a node left out":   {Sharing{Jobs: JobsMapped, MappedMembers: true, UnmappedNodes: []NodeID{mini}, Mapped: []Principal{bob}}, "", ""},
		"a node but a person":           {Sharing{Jobs: JobsMapped, MappedNodes: []NodeID{mini}, Unmapped: []Principal{bob}}, ReasonPrincipalUnmapped, ReasonPrincipalUnmapped},
		"a list":                        {Sharing{Jobs: JobsList, JobsFrom: []Principal{bob}, MappedMembers: true}, ReasonJobsNotShared, ""},
		"a list of who is not mapped":   {Sharing{Jobs: JobsList, JobsFrom: []Principal{anna}}, ReasonPrincipalUnmapped, ReasonJobsNotShared},
		"a list does not say as whom":   {Sharing{Jobs: JobsList, JobsFrom: []Principal{anna, bob}, Mapped: []Principal{bob}}, ReasonPrincipalUnmapped, ""},
		"a list counts for lists alone": {Sharing{Jobs: JobsMapped, JobsFrom: []Principal{anna}, Mapped: []Principal{bob}}, ReasonPrincipalUnmapped, ""},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(test.sharing.Refuses(anna), test.anna)
			is.Equal(test.sharing.Refuses(bob), test.bob)
		})
	}
}
