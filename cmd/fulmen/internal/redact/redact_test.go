package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"ether 3c:07:54:aa:bb:0c up", "ether <mac-1> up"},
		{"3C-07-54-AA-BB-0C 3c:07:54:aa:bb:0d", "<mac-1> <mac-2>"},
		{"at 12:30:45 on 2026-05-01T12:30:45.123Z", "at 12:30:45 on 2026-05-01T12:30:45.123Z"},
		{"fe80::3e07:54ff:feaa:bb0c%en5", "fe80::<mac-1>%en5"},
		{"fe80::1 and fd00::2", "fe80::1 and fd00::2"},
		{"/Users/me/Library and /home/ada/x", "/Users/<user-1>/Library and /home/<user-2>/x"},
		{"grace ran it, Grace's job, disgrace", "<user-1> ran it, <user-1>'s job, disgrace"},
		{"Graces-Mac-Studio.local graces-mac-studio", "<host-1>.local <host-1>"},
		{"host grace on graces-mac-studio", "host <user-1> on <host-1>"},
		{"by zoe@cpv0cwypxp44qw0p, mail@example.org", "by <user-1>@cpv0cwypxp44qw0p, mail@example.org"},
		{"root at localhost", "root at localhost"},
		{"joined Lab 5G", "joined <network-1>"},
	} {
		t.Run(c.in, func(t *testing.T) {
			is := is.New(t)
			r := New()
			r.Add(User, "grace")
			r.Add(User, "root")
			r.Add(Host, "graces-mac-studio")
			r.Add(Host, "x") // too short: letters would go everywhere
			r.Add(Network, "Lab 5G")
			is.Equal(r.Text(c.in), c.want)
		})
	}
}

func TestJSON(t *testing.T) {
	is := is.New(t)
	r := New()
	raw := []byte(`{"short_name":"mini","bssid":"x","sig":"AAAA","docs":[{"serial_number":"C02X","n":18014398509481985}],"by":{"user":"ada"},"text":"mini by ada on C02X"}`)
	r.Learn(raw)
	got := r.JSON(raw)
	for _, secret := range []string{"mini", `"x"`, "AAAA", "C02X", "ada"} {
		is.True(!strings.Contains(got, secret)) // everything that was to be taken out
	}
	var back map[string]any
	is.NoErr(json.Unmarshal([]byte(got), &back))
	is.Equal(back["text"], "<host-1> by <user-1> on <serial-1>")
	is.True(strings.Contains(got, "18014398509481985")) // numbers stay exact
	is.Equal(r.Counts()[User], 2)
	is.Equal(New().JSON([]byte("{ada")), "{ada")
}

func FuzzRedact(f *testing.F) {
	f.Add("fe80::3e07:54ff:feaa:bb0c 3c:07:54:aa:bb:0c secretname", "secretname")
	f.Add(`{"user":"ada","x":["ada"]}`, "ada")
	f.Add("İİ secretname", "secretname")
	f.Fuzz(func(t *testing.T, s, name string) {
		r := New()
		r.Add(Host, name)
		got := r.Text(s)
		r.Learn([]byte(s))
		r.JSON([]byte(s))
		if len(r.order) == 0 || strings.Contains("<host-1><mac-1><user-1><serial-1>", name) {
			return
		}
		for word := range strings.FieldsSeq(got) {
			if word == strings.ToLower(strings.TrimSpace(name)) {
				t.Fatalf("%q is left in %q", name, got)
			}
		}
	})
}
