package legal

import (
	"encoding/json"
	"regexp"
	"time"
)

// Component is something of others that is a part of what is shipped.
type Component struct {
	// Name is its module path, or the name of its wheel.
	Name string
	// Version is the version of it, without a letter before it.
	Version string
	// URL is its package URL (purl), by which lists of materials name it.
	URL string
	// SHA256 is that of the file it came in; empty where that is not known.
	SHA256 string
	// Licence is the licence's short name by SPDX.
	Licence string
	// Texts are its licence files with their notices, in order of their names.
	Texts []string
}

// Product is what the list of materials is of.
type Product struct {
	// Version is the product's.
	Version string
	// Namespace is an address that no other list has; nothing needs to be there.
	Namespace string
	// Made is when the list is made.
	Made time.Time
}

type spdxPackage struct {
	ID        string         `json:"SPDXID"`
	Name      string         `json:"name"`
	Version   string         `json:"versionInfo"`
	From      string         `json:"downloadLocation"`
	Analyzed  bool           `json:"filesAnalyzed"`
	Concluded string         `json:"licenseConcluded"`
	Declared  string         `json:"licenseDeclared"`
	Copyright string         `json:"copyrightText"`
	Checksums []spdxChecksum `json:"checksums,omitempty"`
	Refs      []spdxRef      `json:"externalRefs,omitempty"`
}

type spdxChecksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type spdxRef struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxRelation struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

type spdxDocument struct {
	Version   string `json:"spdxVersion"`
	Licence   string `json:"dataLicense"`
	ID        string `json:"SPDXID"`
	Name      string `json:"name"`
	Namespace string `json:"documentNamespace"`
	Creation  struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	} `json:"creationInfo"`
	Packages  []spdxPackage  `json:"packages"`
	Relations []spdxRelation `json:"relationships"`
}

const (
	documentID = "SPDXRef-DOCUMENT"
	productID  = "SPDXRef-Fulmen"
	noWord     = "NOASSERTION"
)

// notInID are characters that SPDX does not take in an identifier.
var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// Materials is the list of what the product is made of (a software bill of
// materials), in the JSON of SPDX 2.3.
func Materials(p Product, parts []Component) ([]byte, error) {
	d := spdxDocument{Version: "SPDX-2.3", Licence: "CC0-1.0", ID: documentID, Name: "Fulmen " + p.Version, Namespace: p.Namespace}
	d.Creation.Created = p.Made.UTC().Format(time.RFC3339)
	d.Creation.Creators = []string{"Tool: fulmen-bundle-" + p.Version}
	d.Packages = []spdxPackage{{ID: productID, Name: "Fulmen", Version: p.Version, From: noWord, Concluded: "Apache-2.0", Declared: "Apache-2.0", Copyright: noWord}}
	d.Relations = []spdxRelation{{documentID, "DESCRIBES", productID}}
	for _, c := range parts {
		one := spdxPackage{
			ID: "SPDXRef-" + notInID.ReplaceAllString(c.Name+"-"+c.Version, "-"), Name: c.Name, Version: c.Version, From: noWord,
			Concluded: c.Licence, Declared: c.Licence, Copyright: noWord, Refs: []spdxRef{{"PACKAGE-MANAGER", "purl", c.URL}},
		}
		if c.SHA256 != "" {
			one.Checksums = []spdxChecksum{{"SHA256", c.SHA256}}
		}
		d.Packages = append(d.Packages, one)
		d.Relations = append(d.Relations, spdxRelation{productID, "CONTAINS", one.ID})
	}
	text, err := json.MarshalIndent(d, "", "  ")
	return append(text, '\n'), err
}
