using System.Text;
using FsCheck.Fluent;
using Net.Zlink.Extensions.Nats;
using Net.Zlink.Services;
using Xunit;

namespace Net.Zlink.Discovery.Tests.Nats;

/// <summary>The form of an entry.</summary>
public sealed class ServiceLeaseTests
{
    [Fact]
    public void What_is_written_is_read_and_any_other_bytes_are_refused_without_an_exception()
    {
        FsCheck.Check.QuickThrowOnFailure(Prop.ForAll(ArbMap.Default.ArbFor<(string, string, uint, byte[])>(), static given =>
        {
            (string service, string endpoint, uint weight, byte[] id) = given;
            if (string.IsNullOrEmpty(service) || string.IsNullOrEmpty(endpoint) || weight == 0 || id is null || id.Length > 255
                || Encoding.UTF8.GetByteCount(service) > 255 || Encoding.UTF8.GetByteCount(endpoint) > 255
                || !IsWellFormed(service) || !IsWellFormed(endpoint))
            {
                return;
            }

            var instance = new ServiceInstance(service, endpoint) { RoutingId = new RoutingId(id), Weight = weight };
            string key = ServiceLease.KeyOf(service, endpoint);
            byte[] json = ServiceLease.Of(instance).ToJson();
            Assert.Equal(instance, ServiceLease.Read(key, json, out _));
            Assert.Equal((service, endpoint), ServiceLease.NamesOf(key));
            Assert.Null(ServiceLease.Read(key + "x", json, out _));
        }));
        FsCheck.Check.QuickThrowOnFailure(Prop.ForAll(ArbMap.Default.ArbFor<byte[]>(),
            static bytes => Assert.Null(ServiceLease.Read("a.b", bytes ?? [], out _))));
        Assert.Null(ServiceLease.Read("a.b", new byte[5000], out string reason));
        Assert.Contains("4096", reason, StringComparison.Ordinal);
        Assert.Null(ServiceLease.Read("a.b", """{"service":"a","endpoint":"b","routingId":"xy"}"""u8.ToArray(), out _));
    }

    // A lone surrogate is no text that UTF-8 has.
    private static bool IsWellFormed(string text) =>
        string.Equals(text, Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(text)), StringComparison.Ordinal);

    [Theory]
    [InlineData("quotes.ws=3A//h/p=3Ftoken=3Dsecret", "quotes at ws://h/p?…")]
    [InlineData("ws=3A//user=3Asecret=40h", "no service at ws://…@h")]
    public void A_key_is_shown_without_the_secrets_of_its_endpoint(string key, string shown)
    {
        (string service, string endpoint) = ServiceLease.NamesOf(key);
        Assert.Equal(shown, $"{service} at {new RedactedEndpoint(endpoint)}");
    }

    [Fact]
    public void A_key_has_only_characters_that_a_bucket_takes() =>
        Assert.Equal("a=2Eb=20c.tcp=3A//10=2E0=2E0=2E1=3A5555", ServiceLease.KeyOf("a.b c", "tcp://10.0.0.1:5555"));
}
