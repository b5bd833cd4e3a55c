package main

import (
	"encoding/json"
	"net/netip"
	"reflect"

	"fulmen/cmd/internal/apidoc/model"
)

func unitText(suffix string) string {
	switch suffix {
	case "bytes_per_s":
		return "bytes/s"
	case "bits_per_s":
		return "bits/s"
	case "us":
		return "µs"
	case "tflops":
		return "TFLOPS"
	case "watts":
		return "W"
	case "celsius":
		return "°C"
	case "hz":
		return "Hz"
	case "ratio":
		return "0 to 1"
	}
	return suffix
}

// typeText is a type in the words of the reference, with links to its parts.
func typeText(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return "JSON"
	case t == reflect.TypeFor[[]byte]():
		return "base64"
	case t == reflect.TypeFor[netip.Addr]():
		return "IP address"
	case t == reflect.TypeFor[netip.Prefix]():
		return "IP address/length"
	case t == reflect.TypeFor[netip.AddrPort]():
		return "IP address:port"
	case model.IsWord(t), model.IsEnum(t):
		return link(t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeText(t.Elem())
	case reflect.Slice:
		return "list of " + typeText(t.Elem())
	case reflect.Map:
		return "object, values " + typeText(t.Elem())
	case reflect.Struct:
		return link(t)
	case reflect.Bool:
		return "boolean"
	case reflect.Float64:
		return "number"
	case reflect.String:
		return "string"
	}
	return "integer"
}

func link(t reflect.Type) string { return "[" + t.Name() + "](#" + model.Anchor(t) + ")" }
