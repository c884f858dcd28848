using System.Reflection;
using Net.Zlink.Buffers;
using Xunit;

namespace Net.Zlink.Tests.Options;

/// <summary>A value that an option does not take is refused by name.</summary>
public sealed class OptionRangeTests
{
    private static readonly Type[] Classes =
    [
        typeof(PairOptions), typeof(DealerOptions), typeof(RouterOptions), typeof(PubOptions), typeof(XPubOptions), typeof(SubOptions),
            typeof(XSubOptions), typeof(StreamOptions),
        typeof(StreamConnectOptions), typeof(ZlinkContextOptions), typeof(LastValueOptions), typeof(BufferPoolOptions),
    ];

    // Any mask is one of shards: one that names none of those that there are is found out where they are known.
    private static readonly string[] TakeAny = [nameof(ZmpSocketOptions.ShardAffinity)];

    public static TheoryData<Type, string> Bounded => new(
        from type in Classes
        from property in type.GetProperties()
        where property.CanWrite && Refused(property.PropertyType) is not null && !TakeAny.Contains(property.Name)
        select new TheoryDataRow<Type, string>(type, property.Name));

    [Theory]
    [MemberData(nameof(Bounded))]
    public void A_refusal_names_the_option_what_it_takes_and_what_it_got(Type type, string name)
    {
        PropertyInfo property = type.GetProperty(name)!;
        object options = Activator.CreateInstance(type)!;
        bool isLive = options is SocketOptions; // The others are checked as a whole.

        Exception? thrown = Record.Exception(() =>
        {
            property.SetValue(options, Refused(property.PropertyType));
            type.GetMethod("Validate")?.Invoke(options, null);
        });

        var refusal = Assert.IsType<ArgumentOutOfRangeException>(Assert.IsType<TargetInvocationException>(thrown).InnerException);
        Assert.StartsWith($"{name} takes ", refusal.Message, StringComparison.Ordinal);
        Type value = Nullable.GetUnderlyingType(property.PropertyType) ?? property.PropertyType;
        string given = value == typeof(TimeSpan) ? "-77000 ms" : "-77";
        Assert.Contains($", not {given}.", refusal.Message, StringComparison.Ordinal);
        Assert.Equal(isLive ? "value" : name, refusal.ParamName);
    }

    [Fact]
    public void Ranges_are_told_in_the_words_of_the_option()
    {
        Assert.StartsWith("SendHighWaterMark takes 1 and above, or null for no limit, not -1.",
            RefusalOf(static () => new DealerOptions { SendHighWaterMark = -1 }), StringComparison.Ordinal);
        Assert.StartsWith("SendBufferSize takes 0 and above, or null for the value of the system, not -2.",
            RefusalOf(static () => new PubOptions { SendBufferSize = -2 }), StringComparison.Ordinal);
        Assert.StartsWith("TypeOfService takes 0 to 255, not 256.", RefusalOf(static () => new PairOptions { TypeOfService = 256 }),
            StringComparison.Ordinal);
        Assert.StartsWith("ShardCount takes 1 to 1024, not 0.",
            RefusalOf(static () => new ZlinkContext(new ZlinkContextOptions { ShardCount = 0 }), "ShardCount"), StringComparison.Ordinal);
        Assert.StartsWith("QueuedByteLimit takes 1 and above, or null for no limit, not -1.", RefusalOf(
            static () => new ZlinkContext(new ZlinkContextOptions { QueuedByteLimit = -1 }), "QueuedByteLimit"), StringComparison.Ordinal);
        Assert.StartsWith("MaxConnections takes 1 and above, or null for no limit, not 0.",
            RefusalOf(static () => new PairOptions { MaxConnections = 0 }), StringComparison.Ordinal);
        Assert.StartsWith("KeepAliveIdle takes whole seconds from 1 on, or null for the value of the system, not 1500 ms.",
            RefusalOf(static () => new PairOptions { KeepAliveIdle = TimeSpan.FromSeconds(1.5) }), StringComparison.Ordinal);
        Assert.StartsWith("Linger takes TimeSpan.Zero and above, or Timeout.InfiniteTimeSpan, not -3000 ms.",
            RefusalOf(static () => new SubOptions { Linger = TimeSpan.FromSeconds(-3) }), StringComparison.Ordinal);
        Assert.StartsWith("CloseTimeout takes TimeSpan.Zero and above, not Timeout.InfiniteTimeSpan.",
            RefusalOf(static () => new PairOptions { CloseTimeout = Timeout.InfiniteTimeSpan }), StringComparison.Ordinal);
        Assert.StartsWith("HeartbeatTtl takes 0 ms to 6553599 ms, not 7200000 ms.",
            RefusalOf(static () => new RouterOptions { HeartbeatTtl = TimeSpan.FromHours(2) }), StringComparison.Ordinal);
        Assert.StartsWith("MaxUnacknowledged takes 0 ms to 2147483647 ms, not 2592000000 ms.",
            RefusalOf(static () => new PairOptions { MaxUnacknowledged = TimeSpan.FromDays(30) }), StringComparison.Ordinal);
        Assert.StartsWith("ReconnectInterval takes a time above TimeSpan.Zero, not 0 ms.",
            Assert.Throws<ArgumentOutOfRangeException>(new StreamConnectOptions { ReconnectInterval = TimeSpan.Zero }.Validate).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void Texts_names_and_policies_are_refused_by_name_too()
    {
        Assert.StartsWith("RoutingId takes 1 to 255 bytes, not 0.",
            Assert.Throws<ArgumentException>("value", static () => new DealerOptions { RoutingId = default }).Message,
            StringComparison.Ordinal);
        Assert.StartsWith("BindToDevice takes ", Assert.Throws<ArgumentException>(
            "value", static () => new DealerOptions { BindToDevice = "a-name-of-16-byte" }).Message, StringComparison.Ordinal);
        Assert.StartsWith("BindToDevice takes no null",
            Assert.Throws<ArgumentNullException>("value", static () => new DealerOptions { BindToDevice = null! }).Message,
            StringComparison.Ordinal);
        Assert.StartsWith("CaFile takes no null",
            Assert.Throws<ArgumentNullException>("value", static () => new TlsOptions { CaFile = null! }).Message,
            StringComparison.Ordinal);
        Assert.StartsWith("TimeProvider takes no null",
            Assert.Throws<ArgumentNullException>(
                "TimeProvider", static () => new ZlinkContext(new ZlinkContextOptions { TimeProvider = null! })).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_time_that_a_method_does_not_take_is_refused_by_the_name_of_the_argument()
    {
        await using var context = new ZlinkContext();
        using PairSocket pair = context.CreatePair();

        Assert.StartsWith("timeout takes TimeSpan.Zero and above, or Timeout.InfiniteTimeSpan, not -2000 ms.",
            RefusalOf(() => pair.Receive(TimeSpan.FromSeconds(-2)), "timeout"), StringComparison.Ordinal);
    }

    private static string RefusalOf(Func<object> set, string parameter = "value") =>
        Assert.Throws<ArgumentOutOfRangeException>(parameter, set).Message;

    private static object? Refused(Type type) =>
        type == typeof(int) || type == typeof(int?) ? -77
        : type == typeof(long) || type == typeof(long?) ? -77L
        : type == typeof(TimeSpan) || type == typeof(TimeSpan?) ? TimeSpan.FromSeconds(-77)
        : null;
}
