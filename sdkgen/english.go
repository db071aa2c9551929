// This file defines what the search knows of English: which words say nothing, which say the same, and what inflection adds.

package sdkgen

import "strings"

// fillers are words that a question is made with and that say nothing about what it asks for.
var fillers = set(`a an the this that these those
	i me my we us our you your he him his she her it its they them their who whom whose which what when where why how
	am is are was were be been being do does did have has had can could may might must shall should will would
	of to in on at by for from with into onto about as than and or but if so not no there here
	please want need let some any all each every`)

// alike are groups of words that people use for the same deed or thing when they speak of files, programs and services.
var alike = []string{
	"delete remove erase drop destroy discard clear",
	"create make new generate build",
	"add insert append put",
	"find search lookup locate",
	"get read fetch retrieve load",
	"show view display see inspect",
	"list enumerate",
	"update modify change edit alter replace set",
	"run execute invoke call evaluate",
	"start launch begin open",
	"stop end halt terminate kill cancel abort close",
	"save write store record",
	"rename move",
	"copy clone duplicate",
	"send post publish deliver",
	"check verify validate test",
	"compress zip gzip archive",
	"undo revert reset rollback",
	"choose select pick",
	"type enter input",
	"join merge combine",
	"compare diff difference",
	"link connect attach",
	"press push hit",
	"several multiple many",
	"folder directory dir",
	"repo repository",
	"image picture photo",
	"website site webpage page",
	"web internet",
	"mail email",
	"database db",
	"documentation docs manual guide",
	"price cost pricing",
	"size big large",
	"error failure fail problem",
	"command cmd shell terminal",
	"machine vm",
	"phone mobile",
	"voice speech audio",
	"permission access role",
	"setting configuration option",
	"health healthy status",
	"dropdown menu",
	"javascript js script",
}

var synonyms = grouped(alike)

func set(list string) map[string]bool {
	m := map[string]bool{}
	for _, word := range strings.Fields(list) {
		m[word] = true
	}
	return m
}

// grouped returns for the stem of each word the stems of the others of its group.
func grouped(groups []string) map[string][]string {
	m := map[string][]string{}
	for _, g := range groups {
		list := strings.Fields(g)
		for i, word := range list {
			for j, other := range list {
				if i != j {
					m[stem(word)] = append(m[stem(word)], stem(other))
				}
			}
		}
	}
	return m
}

// stem takes from an English word what number, tense and the making of nouns add, roughly: what matters is that both sides of a
// comparison get the same. Words in other scripts have none of these endings.
func stem(word string) string {
	word = singular(word)
	for _, ending := range []string{"ing", "ed", "ion"} {
		base, ok := strings.CutSuffix(word, ending)
		if !ok || len(base) < 3 || !strings.ContainsAny(base, "aeiouy") {
			continue
		}
		if n := len(base); ending != "ion" && base[n-1] == base[n-2] && !strings.ContainsRune("lsz", rune(base[n-1])) {
			base = base[:n-1] // running, stopped
		}
		word = base
		break
	}
	if base, ok := strings.CutSuffix(word, "e"); ok && len(base) >= 3 {
		word = base // create, like creating and creation
	}
	return word
}

// singular takes the plural from a word.
func singular(word string) string {
	if len(word) < 3 {
		return word
	}
	for _, rule := range [...][2]string{{"ies", "y"}, {"sses", "ss"}, {"xes", "x"}, {"ches", "ch"}, {"shes", "sh"}, {"ss", "ss"}, {"us", "us"}, {"is", "is"}, {"s", ""}} {
		if base, ok := strings.CutSuffix(word, rule[0]); ok && len(base) > 1 {
			return base + rule[1]
		}
	}
	return word
}
