using System.Buffers;
using System.Text;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Messages are plain records: JSON by reflection, beside contexts or alone.</summary>
public sealed class JsonWithoutContextTests
{
    [Fact]
    public async Task A_host_without_a_context_answers_a_client_with_one()
    {
        await using var host = new HostFixture();
        host.Services.AddZlinkJson();
        host.Services.AddZlinkReceiver<Ask, Quote>("quotes", "tcp://127.0.0.1:*", static (ask, _) =>
            ValueTask.FromResult(new Quote(ask.Currency, 2)));
        await host.StartAsync();
        await using var client = new RequestClient(
            host.Get<ZlinkContext>(), host.Get<ServiceReceiver>("quotes").Socket.LastEndpoint, Serializers.Json, "quotes");
        Assert.Equal(new Quote("EUR", 2), await client.RequestAsync<Ask, Quote>(new Ask("EUR"), Guard.Limit, Guard.Token).Guarded());
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_context_counts_for_its_types_wherever_reflection_is_added(bool reflectionFirst)
    {
        IMessageSerializer json = reflectionFirst
            ? new JsonMessageSerializer().With(StockContracts.Default)
            : new JsonMessageSerializer(StockContracts.Default).WithReflection();
        Assert.Equal("""{"item_name":"nuts"}""", Write(json, new Stock("nuts"))); // The context's naming.
        Assert.Equal("""{"ItemName":"nuts"}""", Write(json, new Plain("nuts")));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_host_takes_reflection_and_contexts_in_any_order(bool reflectionFirst)
    {
        await using var host = new HostFixture();
        _ = reflectionFirst
            ? host.Services.AddZlinkJson().AddZlinkJson(StockContracts.Default)
            : host.Services.AddZlinkJson(StockContracts.Default).AddZlinkJson();
        IMessageSerializer json = host.Get<IMessageSerializer>();
        Assert.Equal("""{"item_name":"nuts"}""", Write(json, new Stock("nuts")));
        Assert.Equal(new Plain("nuts"), json.Deserialize<Plain>("""{"ItemName":"nuts"}"""u8));
    }

    [Fact]
    public void A_type_that_JSON_cannot_have_is_not_supported() =>
        Assert.Throws<NotSupportedException>(() => Write(new JsonMessageSerializer(), typeof(Plain)));

    private static string Write<T>(IMessageSerializer json, T value)
    {
        var bytes = new ArrayBufferWriter<byte>();
        json.Serialize(value, bytes);
        return Encoding.UTF8.GetString(bytes.WrittenSpan);
    }

    private sealed record Plain(string ItemName);
}
