# chart: lifecycle
# rule: admit-role
# ignore: admit-dirty
# A command starts when the renewal is answered, whatever the role says (B-65).
/^ *Preparing: (/,/in_preparing/ s/LIFE_RENEWED  *@note_lease/LIFE_RENEWED @note_lease @admit/
