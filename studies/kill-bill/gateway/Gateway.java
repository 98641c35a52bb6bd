package bakeoff.gateway;

import java.math.BigDecimal;
import java.util.Collections;
import java.util.Hashtable;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;

import org.joda.time.DateTime;
import org.joda.time.DateTimeZone;
import org.killbill.billing.catalog.api.Currency;
import org.killbill.billing.osgi.api.OSGIPluginProperties;
import org.killbill.billing.payment.api.PaymentMethodPlugin;
import org.killbill.billing.payment.api.PluginProperty;
import org.killbill.billing.payment.api.TransactionType;
import org.killbill.billing.payment.plugin.api.GatewayNotification;
import org.killbill.billing.payment.plugin.api.HostedPaymentPageFormDescriptor;
import org.killbill.billing.payment.plugin.api.PaymentMethodInfoPlugin;
import org.killbill.billing.payment.plugin.api.PaymentPluginApi;
import org.killbill.billing.payment.plugin.api.PaymentPluginApiException;
import org.killbill.billing.payment.plugin.api.PaymentPluginStatus;
import org.killbill.billing.payment.plugin.api.PaymentTransactionInfoPlugin;
import org.killbill.billing.util.callcontext.CallContext;
import org.killbill.billing.util.callcontext.TenantContext;
import org.killbill.billing.util.entity.Pagination;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;

/**
 * A payment plugin whose gateway takes as long as the system property {@code gateway.delay.ms} says (100), and gives every
 * transaction the status in {@code gateway.answer} ({@code PROCESSED}, which grants it), a name of
 * {@link PaymentPluginStatus}. Like a real gateway's client it holds its thread meanwhile, so that threads and pools matter.
 */
public class Gateway implements BundleActivator, PaymentPluginApi {
    private static final String NAME = "gateway";

    private final long delayMs = Long.getLong("gateway.delay.ms", 100);
    private final PaymentPluginStatus answer =
            PaymentPluginStatus.valueOf(System.getProperty("gateway.answer", PaymentPluginStatus.PROCESSED.name()));

    @Override
    public void start(BundleContext context) {
        Hashtable<String, String> properties = new Hashtable<>();
        properties.put(OSGIPluginProperties.PLUGIN_NAME_PROP, NAME);
        context.registerService(PaymentPluginApi.class, this, properties);
    }

    @Override
    public void stop(BundleContext context) {
        // The framework withdraws the service.
    }

    private PaymentTransactionInfoPlugin answered(
            UUID payment, UUID transaction, TransactionType type, BigDecimal amount, Currency currency)
            throws PaymentPluginApiException {
        try {
            Thread.sleep(delayMs);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new PaymentPluginApiException("interrupted", e);
        }
        return new Answered(payment, transaction, type, amount, currency, answer, DateTime.now(DateTimeZone.UTC));
    }

    @Override
    public PaymentTransactionInfoPlugin authorizePayment(UUID account, UUID payment, UUID transaction, UUID method,
            BigDecimal amount, Currency currency, Iterable<PluginProperty> properties, CallContext context)
            throws PaymentPluginApiException {
        return answered(payment, transaction, TransactionType.AUTHORIZE, amount, currency);
    }

    @Override
    public PaymentTransactionInfoPlugin capturePayment(UUID account, UUID payment, UUID transaction, UUID method,
            BigDecimal amount, Currency currency, Iterable<PluginProperty> properties, CallContext context)
            throws PaymentPluginApiException {
        return answered(payment, transaction, TransactionType.CAPTURE, amount, currency);
    }

    @Override
    public PaymentTransactionInfoPlugin purchasePayment(UUID account, UUID payment, UUID transaction, UUID method,
            BigDecimal amount, Currency currency, Iterable<PluginProperty> properties, CallContext context)
            throws PaymentPluginApiException {
        return answered(payment, transaction, TransactionType.PURCHASE, amount, currency);
    }

    @Override
    public PaymentTransactionInfoPlugin creditPayment(UUID account, UUID payment, UUID transaction, UUID method,
            BigDecimal amount, Currency currency, Iterable<PluginProperty> properties, CallContext context)
            throws PaymentPluginApiException {
        return answered(payment, transaction, TransactionType.CREDIT, amount, currency);
    }

    @Override
    public PaymentTransactionInfoPlugin refundPayment(UUID account, UUID payment, UUID transaction, UUID method,
            BigDecimal amount, Currency currency, Iterable<PluginProperty> properties, CallContext context)
            throws PaymentPluginApiException {
        return answered(payment, transaction, TransactionType.REFUND, amount, currency);
    }

    @Override
    public PaymentTransactionInfoPlugin voidPayment(UUID account, UUID payment, UUID transaction, UUID method,
            Iterable<PluginProperty> properties, CallContext context) throws PaymentPluginApiException {
        return answered(payment, transaction, TransactionType.VOID, null, null);
    }

    @Override
    public List<PaymentTransactionInfoPlugin> getPaymentInfo(UUID account, UUID payment,
            Iterable<PluginProperty> properties, TenantContext context) {
        return Collections.emptyList();
    }

    @Override
    public Pagination<PaymentTransactionInfoPlugin> searchPayments(String key, Long offset, Long limit,
            Iterable<PluginProperty> properties, TenantContext context) {
        return new Nothing<>();
    }

    @Override
    public void addPaymentMethod(UUID account, UUID method, PaymentMethodPlugin described, boolean isDefault,
            Iterable<PluginProperty> properties, CallContext context) {
        // Nothing is kept of it.
    }

    @Override
    public void deletePaymentMethod(UUID account, UUID method, Iterable<PluginProperty> properties, CallContext context) {
        // Nothing was kept of it.
    }

    @Override
    public PaymentMethodPlugin getPaymentMethodDetail(UUID account, UUID method, Iterable<PluginProperty> properties,
            TenantContext context) {
        return null;
    }

    @Override
    public void setDefaultPaymentMethod(UUID account, UUID method, Iterable<PluginProperty> properties,
            CallContext context) {
        // Nothing is kept of it.
    }

    @Override
    public List<PaymentMethodInfoPlugin> getPaymentMethods(UUID account, boolean refresh,
            Iterable<PluginProperty> properties, CallContext context) {
        return Collections.emptyList();
    }

    @Override
    public Pagination<PaymentMethodPlugin> searchPaymentMethods(String key, Long offset, Long limit,
            Iterable<PluginProperty> properties, TenantContext context) {
        return new Nothing<>();
    }

    @Override
    public void resetPaymentMethods(UUID account, List<PaymentMethodInfoPlugin> methods,
            Iterable<PluginProperty> properties, CallContext context) {
        // Nothing is kept of them.
    }

    @Override
    public HostedPaymentPageFormDescriptor buildFormDescriptor(UUID account, Iterable<PluginProperty> fields,
            Iterable<PluginProperty> properties, CallContext context) throws PaymentPluginApiException {
        throw new PaymentPluginApiException("unsupported", "this gateway has no page of its own");
    }

    @Override
    public GatewayNotification processNotification(String notification, Iterable<PluginProperty> properties,
            CallContext context) throws PaymentPluginApiException {
        throw new PaymentPluginApiException("unsupported", "this gateway does not notify");
    }

    /** A transaction that the gateway has answered. */
    private static final class Answered implements PaymentTransactionInfoPlugin {
        private final UUID payment;
        private final UUID transaction;
        private final TransactionType type;
        private final BigDecimal amount;
        private final Currency currency;
        private final PaymentPluginStatus status;
        private final DateTime at;

        Answered(UUID payment, UUID transaction, TransactionType type, BigDecimal amount, Currency currency,
                PaymentPluginStatus status, DateTime at) {
            this.payment = payment;
            this.transaction = transaction;
            this.type = type;
            this.amount = amount;
            this.currency = currency;
            this.status = status;
            this.at = at;
        }

        @Override
        public UUID getKbPaymentId() {
            return payment;
        }

        @Override
        public UUID getKbTransactionPaymentId() {
            return transaction;
        }

        @Override
        public TransactionType getTransactionType() {
            return type;
        }

        @Override
        public BigDecimal getAmount() {
            return amount;
        }

        @Override
        public Currency getCurrency() {
            return currency;
        }

        @Override
        public DateTime getCreatedDate() {
            return at;
        }

        @Override
        public DateTime getEffectiveDate() {
            return at;
        }

        @Override
        public PaymentPluginStatus getStatus() {
            return status;
        }

        @Override
        public String getGatewayError() {
            return null;
        }

        @Override
        public String getGatewayErrorCode() {
            return null;
        }

        @Override
        public String getFirstPaymentReferenceId() {
            return transaction.toString();
        }

        @Override
        public String getSecondPaymentReferenceId() {
            return null;
        }

        @Override
        public List<PluginProperty> getProperties() {
            return Collections.emptyList();
        }
    }

    /** What a search finds in a gateway that keeps nothing. */
    private static final class Nothing<T> implements Pagination<T> {
        @Override
        public Long getCurrentOffset() {
            return 0L;
        }

        @Override
        public Long getNextOffset() {
            return null;
        }

        @Override
        public Long getMaxNbRecords() {
            return 0L;
        }

        @Override
        public Long getTotalNbRecords() {
            return 0L;
        }

        @Override
        public Iterator<T> iterator() {
            return Collections.emptyIterator();
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }
}
