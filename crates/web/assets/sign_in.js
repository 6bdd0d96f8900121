// The form comes again where a token was given and was wrong: in the form, or in the address.

document.getElementById("wrong").hidden = location.pathname === "/" && !location.search;
