-- Captures that were granted, each of 10 dollars: another amount makes another number.
select coalesce(sum(amount) / 10, 0)::bigint from payment_transactions
where transaction_type = 'CAPTURE' and transaction_status = 'SUCCESS' and processed_amount = amount;
