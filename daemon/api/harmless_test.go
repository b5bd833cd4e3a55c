package api

import (
	"reflect"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// Every place in the table is a field that is there and holds texts.
func TestHarmlessPlacesExist(t *testing.T) {
	texts := map[string]bool{}
	for typ := range wireTypes() {
		for name, f := range jsonFields(typ) {
			at := typ.Name() + "." + name
			switch elem := innermost(f.Type); {
			case f.Type.Kind() == reflect.Map:
				texts[at+"{}"] = true
				fallthrough
			case elem.Kind() == reflect.String, elem.Kind() == reflect.Uint8:
				texts[at] = true
			}
		}
	}
	for place := range harmless() {
		if !texts[place] && !strings.HasPrefix(place, "log.") {
			t.Errorf("%s is no field with text", place)
		}
	}
}

func innermost(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

func TestHarmless(t *testing.T) {
	node := string(testNode(1))
	for _, c := range []struct {
		t     reflect.Type
		place string
		text  string
		want  bool
	}{
		{nil, "", "", true},
		{nil, "", "x", false},
		{reflect.TypeFor[NodeID](), "", node, true},
		{reflect.TypeFor[NodeID](), "", "ada", false},
		{reflect.TypeFor[ClusterID](), "", string(sampleCluster), false}, // who has it recognises announcements
		{reflect.TypeFor[LinkID](), "", sampleLink().String(), true},
		{reflect.TypeFor[Principal](), "", "anna@" + node, false},
		{reflect.TypeFor[PeerAddress](), "", node + "/10.0.0.7", false},
		{reflect.TypeFor[Time](), "", sampleTime().String(), true},
		{reflect.TypeFor[Reason](), "", string(ReasonLinkTooSlow), true},
		{reflect.TypeFor[Reason](), "", "link_too_slow_for_ada", false},
		{reflect.TypeFor[JobPhase](), "", string(JobFailed), true},
		{reflect.TypeFor[JobPhase](), "", "mains", false},
		{reflect.TypeFor[NodeRef](), "", "mac-studio", false},
		{reflect.TypeFor[string](), "Identity.model", "Mac15,14", true},
		{reflect.TypeFor[string](), "Identity.model", "AdasMac1,2", false},
		{reflect.TypeFor[string](), "Identity.os_version", "26.2", true},
		{reflect.TypeFor[string](), "Identity.os_version", "10.0.0.7", false},
		{reflect.TypeFor[string](), "Identity.name", "Mac15,14", false},
		{reflect.TypeFor[string](), "Condition.subject", node + ":3", true},
		{reflect.TypeFor[string](), "Condition.subject", "ada", false},
		{nil, "Document.unknown{}", "gpu_cores", true},
		{nil, "Document.unknown{}", "ada", false},
		{nil, "log.state", "awake", true},
		{nil, "log.state", "/Users/ada", false},
		{nil, "log.node", testNode(1).Display(), true},
		{nil, "log.method", "job.submit", true},
		{nil, "log.user", "awake", false},
	} {
		t.Run(c.place+" "+c.text, func(t *testing.T) {
			is := is.New(t)
			is.Equal(Harmless(c.t, c.place, c.text), c.want)
		})
	}
}
