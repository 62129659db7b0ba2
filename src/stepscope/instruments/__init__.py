"""What SQL cannot say: functions from columns to columns. Their results are tables for SQL to read."""
