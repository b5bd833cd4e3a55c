package main

import (
	"reflect"
	"slices"

	"fulmen/daemon/api"
)

// The patterns of ids. Those of ids made of others are put together from them,
// as the ids are. A pattern cannot check a node id's check character.
const (
	crockford    = `[0-9a-hjkmnp-tv-z]`
	nodePattern  = crockford + `{16}`
	jobPattern   = `j` + crockford + `{8}`
	rankPattern  = jobPattern + `/[1-9][0-9]{0,3}/(0|[1-9][0-9]{0,3})`
	portPattern  = `([1-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])` // of a cable: 1 to 255
	endPattern   = nodePattern + `:` + portPattern
	linkPattern  = endPattern + `~` + endPattern
	snakePattern = `[a-z][a-z0-9]*(_[a-z0-9]+)*`
)

// word is a type of one word with its schema.
type word struct {
	Type   reflect.Type
	schema object
}

// words are the types that are one word on the wire, and the code, which is
// one number, in the order in which people read of them.
func words() []word {
	text := func(pattern string) object {
		return object{{"type", "string"}, {"pattern", "^" + pattern + "$"}}
	}
	free := object{{"type", "string"}}
	return []word{
		{reflect.TypeFor[api.NodeID](), text(nodePattern)},
		{reflect.TypeFor[api.ClusterID](), text(`[0-9a-f]{32}`)},
		{reflect.TypeFor[api.JobID](), text(jobPattern)},
		{reflect.TypeFor[api.MeasureID](), text(`m` + crockford + `{8}`)},
		{reflect.TypeFor[api.RankRef](), text(rankPattern)},
		{reflect.TypeFor[api.PortNumber](), object{{"type", "integer"}, {"minimum", 1}, {"maximum", api.MaxPortNumber}}},
		{reflect.TypeFor[api.LinkEnd](), text(endPattern)},
		{reflect.TypeFor[api.LinkID](), text(linkPattern)},
		{reflect.TypeFor[api.Principal](), text(`[A-Za-z0-9._+$\\][A-Za-z0-9._+$\\-]{0,63}@` + nodePattern)},
		{reflect.TypeFor[api.PeerAddress](), text(nodePattern + `/[0-9a-f.:]+(%[A-Za-z0-9._-]{1,32})?`)},
		{reflect.TypeFor[api.Time](), text(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z`).with("format", "date-time")},
		{reflect.TypeFor[api.NodeRef](), free},
		{reflect.TypeFor[api.LinkRef](), free},
		{reflect.TypeFor[api.Subscription](), free},
		{reflect.TypeFor[api.Reason](), text(snakePattern)},
		{reflect.TypeFor[api.Code](), object{{"type", "integer"}, {"enum", api.Codes()}}},
	}
}

// isWord reports whether a type is one of words.
func isWord(t reflect.Type) bool {
	return slices.ContainsFunc(words(), func(w word) bool { return w.Type == t })
}

// nameSchema is what the name of a document is by its rule.
func nameSchema(rule api.NameRule) object {
	text := func(pattern string) object { return object{{"pattern", "^(" + pattern + ")$"}} }
	switch rule {
	case api.NameEmpty:
		return object{{"const", ""}}
	case api.NamePortNumber:
		return text(portPattern)
	case api.NamePeerAddress:
		return ref("PeerAddress")
	case api.NameLink:
		return ref("LinkID")
	case api.NamePath:
		return object{{"anyOf", []any{ref("PeerAddress"), ref("LinkID")}}}
	case api.NameJob:
		return ref("JobID")
	case api.NameRank:
		return ref("RankRef")
	case api.NameHolder:
		return object{{"anyOf", []any{ref("RankRef"), ref("MeasureID")}}}
	case api.NameCondition:
		return text(snakePattern + `(/.+)?`)
	case api.NameNode:
		return ref("NodeID")
	}
	panic("no schema for names by the rule " + string(rule))
}

// ref points to a definition.
func ref(name string) object { return object{{"$ref", "#/$defs/" + name}} }
