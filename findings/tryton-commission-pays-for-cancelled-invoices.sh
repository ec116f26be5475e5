#!/usr/bin/env bash
# The modules commission 6.0.2 and account_invoice 6.0.9 of Tryton (Debian 12), which pay commissions to agents.
#
# Input: an agent whose plan pays 10 % when the customer has paid, and one whose plan pays when an invoice is posted.
# The first has a posted invoice of 100.00 that nobody paid, the second one of 50.00 that is then cancelled.
# Behaviour: the commission of 5.00 stays when the invoice is cancelled, because Tryton takes it back only if the
# invoice has no entry in the books yet. "Create Commission Invoices" without dates also pays the 10.00, which are not
# due and have no date; with the date "To" it leaves them out.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq tryton-server=6.0.29-2+deb12u4 tryton-proteus=6.0.8-1 tryton-modules-commission=6.0.2-2 \
    tryton-modules-account-invoice=6.0.9-1 tryton-modules-account-product=6.0.3-2 tryton-modules-account=6.0.15-1 \
    tryton-modules-company=6.0.6-2 tryton-modules-country=6.0.3-2 tryton-modules-currency=6.0.4-2 \
    tryton-modules-party=6.0.3-2 tryton-modules-product=6.0.3-3 python3-dateutil=2.8.2-2 python3-defusedxml=0.7.1-2 \
    python3-genshi=0.7.7-2+b2 python3-lxml=4.9.2-1+deb12u1 python3-magic=2:0.4.26-3 python3-markupsafe=2.1.2-1+b1 \
    python3-passlib=1.7.4-3 python3-pkg-resources=66.1.1-1+deb12u2 python3-polib=1.1.1-1 python3-relatorio=0.10.1-1 \
    python3-simpleeval=0.9.12-1+deb12u1 python3-six=1.16.0-4 python3-sql=1.4.0-1+deb12u1 python3-stdnum=1.18-1 \
    python3-werkzeug=2.2.2-3+deb12u1 python3-wrapt=1.14.1-2+b2 >&2
for package in ./*.deb; do
    dpkg-deb -x "$package" root
done
cat > run.py <<'PYTHON'
import datetime
from decimal import Decimal

from proteus import Model, Wizard
from trytond.modules.account.tests.tools import create_chart, create_fiscalyear, get_accounts
from trytond.modules.account_invoice.tests.tools import create_payment_term, set_fiscalyear_invoice_sequences
from trytond.modules.company.tests.tools import create_company, get_company
from trytond.tests.tools import activate_modules


def record(model, **values):
    made = Model.get(model)(**values)
    made.save()
    return made


activate_modules('commission')
create_company()
company = get_company()
company.cancel_invoice_out = True
company.save()
set_fiscalyear_invoice_sequences(create_fiscalyear(company)).click('create_period')
create_chart(company)
accounts = get_accounts(company)
term = create_payment_term()
term.save()
category = record('product.category', name='all', accounting=True, account_expense=accounts['expense'],
                  account_revenue=accounts['revenue'])
unit, = Model.get('product.uom').find([('name', '=', 'Unit')])
product, = record('product.template', name='work', default_uom=unit, type='service', list_price=Decimal(0),
                  account_category=category).products
customer = record('party.party', name='customer')


def agent(name, method):
    plan = Model.get('commission.plan')(name=name, commission_product=product, commission_method=method)
    plan.lines.new(formula='amount * 0.1')
    plan.save()
    party = record('party.party', name=name, supplier_payment_term=term)
    return record('commission.agent', party=party, type_='agent', plan=plan, currency=company.currency)


def invoice(agent, amount):
    made = Model.get('account.invoice')(party=customer, payment_term=term, agent=agent, invoice_date=datetime.date.today())
    made.lines.new(product=product, quantity=1, unit_price=Decimal(amount))
    made.save()
    made.click('post')
    return made


def pay(to):
    wizard = Wizard('commission.create_invoice')
    wizard.form.from_, wizard.form.to = None, to
    wizard.execute('create_')
    paid = {made.party.name: f'{made.total_amount}' for made in Model.get('account.invoice').find([('type', '=', 'in')])}
    print(f'commissions paid {"with" if to else "without"} a date: {dict(sorted(paid.items()))}')


unpaid = invoice(agent('when paid', 'payment'), 100)
cancelled = invoice(agent('when posted', 'posting'), 50)
cancelled.click('cancel')
print(f'invoices: {unpaid.state}, {cancelled.state}')
pay(datetime.date.today())
pay(None)
PYTHON
expected="invoices: posted, cancelled
commissions paid with a date: {'when posted': '5.00'}
commissions paid without a date: {'when paid': '10.00', 'when posted': '5.00'}"
found=$(DB_NAME=:memory: PYTHONPATH=root/usr/lib/python3/dist-packages timeout 120 python3 run.py 2> warnings)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
