#!/usr/bin/env bash
# xls2csv of catdoc 0.95 (Debian 12: 1:0.95-6~deb12u1), which writes the sheets of an Excel 97 file as CSV.
#
# Input: orders of 31 March 2026 in Excel's own date formats and in a written one, and the cell TRUE,
# from Spreadsheet::WriteExcel and from xlwt. Spreadsheet::ParseExcel confirms the date and the date system 1900.
# Behaviour: xls2csv adds four years and a day, the distance of the date systems 1900 and 1904, also with -f. A date
# in a format such as yyyy-mm-dd becomes the number of its day, in the system 1900, and TRUE becomes an empty field.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq catdoc=1:0.95-6~deb12u1 libspreadsheet-writeexcel-perl=2.40-4 libspreadsheet-parseexcel-perl=0.6500-4~deb12u1 \
    libole-storage-lite-perl=0.20-2 libparse-recdescent-perl=1.967015+dfsg-4 libcrypt-rc4-perl=2.02-5 \
    libdigest-perl-md5-perl=1.9-5 python3-xlwt=1.3.0-4 >&2
for package in ./*.deb; do
    dpkg-deb -x "$package" root
done
printf 'charset_path = %s\nmap_path = %s\n' "$folder/root/usr/share/catdoc" "$folder/root/usr/share/catdoc" > .catdocrc
cat > write.pl <<'PERL'
use Spreadsheet::WriteExcel;
my $book = Spreadsheet::WriteExcel->new('perl.xls');
my $sheet = $book->add_worksheet;
my $row = 0;
for my $format (14, 15, 22, 'yyyy-mm-dd') {
    $sheet->write_date_time($row, 0, '2026-03-31T12:00:00', $book->add_format(num_format => $format));
    $sheet->write($row++, 1, "format $format");
}
PERL
cat > write.py <<'PYTHON'
import datetime
import xlwt
book = xlwt.Workbook()
sheet = book.add_sheet('orders')
for row, text in enumerate(['M/D/YY', 'dd.mm.yyyy']):
    sheet.write(row, 0, datetime.datetime(2026, 3, 31, 12), xlwt.easyxf(num_format_str=text))
    sheet.write(row, 1, text)
sheet.write(2, 0, True)
sheet.write(2, 1, 'TRUE')
book.save('python.xls')
PYTHON
cat > read.pl <<'PERL'
use Spreadsheet::ParseExcel;
for my $file ('perl.xls', 'python.xls') {
    my $book = Spreadsheet::ParseExcel->new->parse($file);
    my ($sheet) = $book->worksheets;
    printf "%s: %s, date system %s\n", $file, $sheet->get_cell(0, 0)->value, $book->using_1904_date ? 1904 : 1900;
}
PERL
timeout 30 perl -Iroot/usr/share/perl5 write.pl
PYTHONPATH=root/usr/lib/python3/dist-packages timeout 30 python3 write.py
expected='perl.xls: 2026-03-31, date system 1900
python.xls: 2026-03-31, date system 1900
"04-01-30","format 14"
"01-Apr-30","format 15"
"04-01-30 12:00","format 22"
"46112.5","format yyyy-mm-dd"
"2030-04-01","M/D/YY"
"46112.5","dd.mm.yyyy"
,"TRUE"'
found=$(
    timeout 30 perl -Iroot/usr/share/perl5 read.pl
    HOME=$folder timeout 30 root/usr/bin/xls2csv -d utf-8 perl.xls | tr -d '\f'
    HOME=$folder timeout 30 root/usr/bin/xls2csv -d utf-8 -f %Y-%m-%d python.xls | tr -d '\f'
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
