using System.Globalization;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>Options by their native numbers: what is taken, what is refused and with which error, and what is read afterwards. Where ours
/// says that an option has no meaning (EOPNOTSUPP), nothing is compared; docs/options.md has the reasons.</summary>
public sealed class OptionTests
{
    private const int LastNumber = 130;

    // IFNAMSIZ.
    private const int LongestDevice = 16;

    private static readonly string s_noMeaning = OptionText.Of(NativeErrno.NotSupported);

    // What zlink_getsockopt is given to fill: less and more than an int and a 64-bit number, and more than any text.
    private static readonly int[] s_rooms = [0, 3, 4, 5, 8, 512];

    private static readonly int[] s_numbers = [0, 1, -1, 2, -2, 99, -99, -100, 100, 250, 6_553_599, 6_553_600, int.MaxValue, int.MinValue];

    public static TheoryData<NativeSocketType> Types { get; } = [.. Enum.GetValues<NativeSocketType>()];

    private static IEnumerable<byte[]> Values =>
    [
        .. s_numbers.Select(BitConverter.GetBytes),
        .. s_numbers.Select(static number => BitConverter.GetBytes((long)number)),
        .. new[] { 0, 1, 3, 5, 15, 16, 17, 255, 256, 257 }.Select(static length => Enumerable.Repeat((byte)'x', length).ToArray()),
    ];

    [NativeTheory]
    [MemberData(nameof(Types))]
    public void Each_number_takes_and_gives_what_it_takes_and_gives_natively(NativeSocketType type)
    {
        using var nativeContext = new NativeContext();
        using var context = new ZlinkContext();
        List<string> differences = [];
        for (int number = 0; number <= LastNumber; number++)
        {
            using NativeSocket native = nativeContext.CreateSocket(type);
            using var ours = new ManagedOptionHolder(type, context);
            if (number != NativeOption.RoutingId && IsTheSame(type, number, []))
            {
                Compare($"{number} at first", number, native, ours, differences); // A routing id is random until it is set.
            }

            foreach (byte[] value in Values.Where(value => IsTheSame(type, number, value)))
            {
                string what = string.Create(CultureInfo.InvariantCulture, $"{number} = {Text(value)}");
                (int nativeError, int ourError) = (native.TrySetOption(number, value), ours.TrySetOption(number, value));
                if (nativeError != ourError && ourError != NativeErrno.NotSupported)
                {
                    differences.Add($"{what}: natively {nativeError}, ours {ourError}");
                }

                Compare($"{what}, then", number, native, ours, differences);
            }
        }

        Assert.True(differences.Count == 0, string.Join('\n', differences));
    }

    /// <summary>What differs on purpose is left out (docs/options.md).</summary>
    private static bool IsTheSame(NativeSocketType type, int number, byte[] value)
    {
        int first = value.Length >= sizeof(int) ? BitConverter.ToInt32(value) : 0;
        return number switch
        {
            NativeOption.ReconnectInterval => first != -1, // Reads back as 0, which means the same.
            NativeOption.Backlog => value.Length > 0, // Ours is larger until it is set.
            // Ours of STREAM is 8 MiB, not -1, and no negative number but -1 is read back.
            NativeOption.MaxMessageSize when value.Length == sizeof(long) =>
                BitConverter.ToInt64(value) is >= 0 or -1 && (type is not NativeSocketType.Stream || BitConverter.ToInt64(value) >= 0),
            NativeOption.MaxMessageSize => type is not NativeSocketType.Stream,
            // 0 is read back as -1, which means the same; a TimeSpan has so many seconds at most.
            NativeOption.KeepAliveCount => value.Length != sizeof(int) || first != 0,
            NativeOption.KeepAliveIdle or NativeOption.KeepAliveInterval =>
                value.Length != sizeof(int) || (first != 0 && first <= int.MaxValue / 1000),
            NativeOption.TypeOfService => first is >= 0 and <= byte.MaxValue, // Natively any number, of which the system takes a byte.
            // Natively taken, of no use.
            NativeOption.XPubVerbose or NativeOption.XPubManual or NativeOption.XPubVerboser or NativeOption.OnlyFirstSubscribe =>
                type is not NativeSocketType.Pub && (type is not NativeSocketType.XSub || number != NativeOption.OnlyFirstSubscribe),
            NativeOption.TlsVerify => type is not (NativeSocketType.Pub or NativeSocketType.XPub), // Natively two options with one number.
            // Natively it fits without the zero that ends a name.
            NativeOption.BindToDevice => Array.TrueForAll(value, static letter => letter == 'x') && value.Length != LongestDevice,
            NativeOption.TlsCert or NativeOption.TlsKey or NativeOption.TlsCa or NativeOption.TlsHostName or NativeOption.TlsPassword =>
                Array.TrueForAll(value, static letter => letter == 'x'), // Natively any bytes; ours are text.
            _ => true,
        };
    }

    private static void Compare(string when, int number, NativeSocket native, ManagedOptionHolder ours, List<string> differences)
    {
        foreach (int capacity in s_rooms)
        {
            string natively = native.TryGetOption(number, capacity);
            string here = ours.TryGetOption(number, capacity);
            if (!string.Equals(natively, here, StringComparison.Ordinal) && !string.Equals(here, s_noMeaning, StringComparison.Ordinal))
            {
                differences.Add($"{when} in {capacity}: natively {natively}, ours {here}");
            }
        }
    }

    private static string Text(byte[] value) => value.Length switch
    {
        sizeof(int) => BitConverter.ToInt32(value).ToString(CultureInfo.InvariantCulture),
        sizeof(long) => BitConverter.ToInt64(value).ToString(CultureInfo.InvariantCulture) + "L",
        _ => $"{value.Length} bytes",
    };
}
