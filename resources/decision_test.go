package resources_test

import (
	"reflect"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
)

// TestACloneHasEveryField guarantees that a copied subject loses no fact: what is not copied would be empty for policy.
func TestACloneHasEveryField(t *testing.T) {
	subject := &resources.Subject{}
	value := reflect.ValueOf(subject).Elem()
	for i := range value.NumField() {
		switch field := value.Field(i); field.Kind() {
		case reflect.String:
			field.SetString("x")
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		}
	}
	clone := reflect.ValueOf(subject.Clone()).Elem()
	for i := range value.NumField() {
		if name := value.Type().Field(i).Name; name != "Digests" && clone.Field(i).IsZero() {
			t.Errorf("the clone has no %s", name)
		}
	}
}
