using Net.Zlink.Scenarios.Patterns.Soak;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Patterns.Soak;

public sealed class SoakMessageTests
{
    private readonly byte[] _buffer = new byte[SoakMessage.Longest];

    [Fact]
    public void A_message_is_known_by_its_number_and_lengths_are_mixed()
    {
        var lengths = new HashSet<int>();
        for (int number = 0; number < 2_000; number++)
        {
            int length = SoakMessage.Write(_buffer, number);
            Assert.Equal(number, SoakMessage.Read(_buffer.AsSpan(0, length)));
            lengths.Add(length);
        }

        Assert.True(lengths.Count > 500, $"{lengths.Count} lengths");
        Assert.True(lengths.Max() > 64 * 1024, $"the longest has {lengths.Max()} bytes");
    }

    [Fact]
    public void A_message_that_was_cut_lengthened_or_changed_at_either_end_is_broken()
    {
        for (int number = 0; number < 200; number++)
        {
            byte[] message = _buffer[..SoakMessage.Write(_buffer, number)];
            Assert.Equal(-1, SoakMessage.Read(message.AsSpan(0, message.Length - 1)));
            Assert.Equal(-1, SoakMessage.Read([.. message, 0]));
            message[^1] ^= 1;
            Assert.NotEqual(number, SoakMessage.Read(message));
            message[^1] ^= 1;
            message[0] ^= 1;
            Assert.NotEqual(number, SoakMessage.Read(message));
        }

        Assert.Equal(-1, SoakMessage.Read([]));
    }
}
