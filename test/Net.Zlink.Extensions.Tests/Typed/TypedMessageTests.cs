using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Values in place of bytes.</summary>
public sealed class TypedMessageTests
{
    [Fact]
    public async Task A_value_is_sent_and_received()
    {
        IMessageSerializer serializer = Serializers.Json; // Program (g) has others.
        await using var context = new ZlinkContext();
        using RouterSocket router = context.CreateRouter();
        using DealerSocket dealer = context.CreateDealer();
        router.Bind("inproc://typed");
        dealer.Connect("inproc://typed");
        await dealer.SendAsync(new Ask("EUR"), serializer, Guard.Token).Guarded();
        using Message ask = await router.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(new Ask("EUR"), ask.Read<Ask>(serializer));
        await router.To(ask.RoutingId).SendAsync(new Quote("EUR", 1.2m), serializer, Guard.Token).Guarded();
        Assert.Equal(new Quote("EUR", 1.2m), await dealer.ReceiveAsync<Quote>(serializer, Guard.Token).Guarded());
        Assert.True(dealer.TrySend(new Ask("USD"), serializer));
        Assert.Equal(new Ask("USD"), await router.ReceiveAsync<Ask>(serializer, Guard.Token).Guarded());
    }

    [Fact]
    public async Task A_published_value_is_received_by_its_topic_and_one_that_is_malformed_is_told()
    {
        await using var context = new ZlinkContext();
        using XPubSocket publisher = context.CreateXPub();
        using SubSocket subscriber = context.CreateSub();
        publisher.Bind("inproc://prices");
        subscriber.Connect("inproc://prices");
        var malformed = new List<Exception>();
        await using IAsyncEnumerator<Quote> quotes =
            subscriber.SubscribeAsync<Quote>("price.", Serializers.Json, malformed.Add, Guard.Token).GetAsyncEnumerator(Guard.Token);
        ValueTask<bool> next = quotes.MoveNextAsync();
        (await publisher.ReceiveAsync(Guard.Token).Guarded()).Dispose(); // The subscription.
        await publisher.SendAsync("price.: no json", Guard.Token).Guarded();
        await publisher.PublishAsync("other", new Quote("USD", 1), Serializers.Json, Guard.Token).Guarded();
        await publisher.PublishAsync("price.EUR", new Quote("EUR", 1.2m), Serializers.Json, Guard.Token).Guarded();
        Assert.True(await next.Guarded());
        Assert.Equal(new Quote("EUR", 1.2m), quotes.Current);
        Assert.IsType<JsonException>(Assert.Single(malformed));
    }

    [Fact]
    public async Task A_function_that_throws_ends_the_enumeration_and_its_subscription()
    {
        await using var context = new ZlinkContext();
        using XPubSocket publisher = context.CreateXPub().BoundTo("inproc://read");
        using SubSocket subscriber = context.CreateSub().ConnectedTo("inproc://read");
        await using IAsyncEnumerator<int> numbers = subscriber
            .SubscribeAsync("n", static m => int.Parse(m.GetString(1), CultureInfo.InvariantCulture), Guard.Token)
            .GetAsyncEnumerator(Guard.Token);
        ValueTask<bool> next = numbers.MoveNextAsync();
        (await publisher.ReceiveAsync(Guard.Token).Guarded()).Dispose(); // The subscription.
        using var message = new MessageBuilder();
        await publisher.SendAsync(message.Add("n").Add("12"), Guard.Token).Guarded();
        Assert.True(await next.Guarded());
        Assert.Equal(12, numbers.Current);
        await publisher.SendAsync(message.Add("n").Add("twelve"), Guard.Token).Guarded();
        await Assert.ThrowsAsync<FormatException>(async () => await numbers.MoveNextAsync().Guarded());
        using Message notice = await publisher.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal([0, (byte)'n'], notice.Span.ToArray()); // It is taken back.
    }

    [Fact]
    public async Task A_message_that_is_no_such_value_is_the_serializers_exception()
    {
        await using var context = new ZlinkContext();
        using PairSocket one = context.CreatePair();
        using PairSocket two = context.CreatePair();
        one.Bind("inproc://pair");
        two.Connect("inproc://pair");
        await two.SendAsync("{", Guard.Token).Guarded();
        await Assert.ThrowsAsync<JsonException>(() => one.ReceiveAsync<Quote>(Serializers.Json, Guard.Token).Guarded());
        await Assert.ThrowsAsync<NotSupportedException>(() => two.SendAsync(new Version(1, 0), Serializers.Json, Guard.Token).Guarded());
    }

    [Fact]
    public void A_trace_context_goes_as_the_last_part_and_does_not_disturb_the_value()
    {
        using var activity = new Activity("send");
        activity.SetIdFormat(ActivityIdFormat.W3C);
        activity.TraceStateString = "vendor=1";
        activity.AddBaggage("user", "a,b");
        activity.Start();
        using var builder = new MessageBuilder();
        using Message message = builder.Add("price.EUR").Add(new Quote("EUR", 1), Serializers.Json).AddTraceContext().ToMessage();
        Assert.Equal(3, message.PartCount);
        Assert.True(message.TryGetTraceContext(out ActivityContext context));
        Assert.Equal((activity.TraceId, activity.SpanId, "vendor=1", true),
            (context.TraceId, context.SpanId, context.TraceState, context.IsRemote));
        Assert.True(message.TryGetTraceContext(out _, out IEnumerable<KeyValuePair<string, string?>> baggage));
        Assert.Equal([new("user", "a,b")], baggage);
        Assert.Equal(new Quote("EUR", 1), message.Read<Quote>(Serializers.Json));
    }

    [Theory]
    [InlineData("traceparent:")]
    [InlineData("traceparent:00-zz-zz-00")]
    [InlineData("price")]
    public void A_part_that_is_no_trace_context_gives_none(string part)
    {
        using var builder = new MessageBuilder();
        using Message message = builder.Add("1").Add(part).ToMessage();
        Assert.False(message.TryGetTraceContext(out _));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Typed_sends_allocate_nothing(bool byReflection)
    {
        IMessageSerializer json = byReflection ? new JsonMessageSerializer() : Serializers.Json;
        await using var context = new ZlinkContext();
        using PairSocket one = context.CreatePair();
        using PairSocket two = context.CreatePair();
        one.Bind("inproc://alloc");
        two.Connect("inproc://alloc");
        var quote = new Quote("EUR", 1.2m);
        long least = long.MaxValue;
        for (int round = 0; round < 20; round++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int i = 0; i < 100; i++)
            {
                two.TrySend(quote, json);
                one.TryReceive(out Message message);
                message.Dispose();
            }

            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
        }

        Assert.Equal(0, least); // The first rounds fill pools and compile.
    }
}
