using System.Buffers.Binary;
using FsCheck.Fluent;
using Net.Zlink.Transports;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Transports;

/// <summary>How much of what a TLS session reads is no data.</summary>
public sealed class SessionBytesTests
{
    private const int Seal = 17;
    private const int UpdateOfKeys = 5;

    [Fact]
    public void Updates_of_keys_are_too_much_at_last_however_often_data_comes_between_them()
    {
        var session = default(SessionBytes);
        session.BeginSession(isTls13: true);
        byte[] round = [.. Enumerable.Repeat(Record(UpdateOfKeys), 200).SelectMany(static r => r), .. Record(4)];
        int rounds = 0;
        for (; !session.IsTooMuch; rounds++)
        {
            Assert.True(rounds < 2_000, "the peer may go on for ever");
            session.BeginRead();
            session.AddRecordBytes(round);
            session.AddData(4);
        }

        Assert.InRange(rounds * 200 * UpdateOfKeys, 1_000_000, 1_100_000);
        session.Write(); // The answers have gone.
        session.BeginRead();
        Assert.False(session.IsTooMuch);
    }

    [Fact]
    public void Over_TLS_1_2_only_what_one_read_goes_through_counts()
    {
        var session = default(SessionBytes);
        session.BeginSession(isTls13: false);
        for (int i = 0; i < 100_000; i++)
        {
            session.BeginRead();
            session.AddRecordBytes(Record(40));
            session.AddData(10);
            Assert.False(session.IsTooMuch);
        }

        session.BeginRead();
        for (int i = 0; i < 100_000; i++)
        {
            session.AddRecordBytes(Record(40));
        }

        Assert.True(session.IsTooMuch);
    }

    [Theory]
    [InlineData(true, 2 * 1024)]
    [InlineData(false, 32 * 1024)]
    public void A_session_of_many_updates_of_keys_is_read_a_little_at_a_time_until_it_brings_data(bool isTls13, int most)
    {
        var session = default(SessionBytes);
        session.BeginSession(isTls13);
        for (int i = 0; i < 64; i++)
        {
            Assert.Equal(32 * 1024, session.MaxBytesPerRead(32 * 1024));
            session.AddRecordBytes(Record(UpdateOfKeys));
            session.Write(); // An echo of a message between them makes no difference.
        }

        Assert.Equal(most, session.MaxBytesPerRead(32 * 1024));
        Assert.Equal(1024, session.MaxBytesPerRead(1024));
        session.AddRecordBytes(Record(16_000));
        session.AddData(16_000);
        Assert.Equal(32 * 1024, session.MaxBytesPerRead(32 * 1024));
    }

    [Fact]
    public void Data_is_never_too_much_in_whatever_pieces_its_records_come() => ForAllArrays(
        Gen.Choose(0, 16_384),
        200,
        static lengths =>
        {
            var session = default(SessionBytes);
            session.BeginSession(isTls13: true);
            byte[] bytes = [.. lengths.SelectMany(Record)];
            int at = 0;
            for (int i = 0; at < bytes.Length; i++)
            {
                int piece = Math.Min((lengths[^(1 + (i % lengths.Length))] % 3_001) + 1, bytes.Length - at);
                session.BeginRead();
                session.AddRecordBytes(bytes.AsSpan(at, piece));
                at += piece;
            }

            session.AddData(lengths.Sum());

            // Nothing of it was anything else: there is room for as much of that as at the beginning.
            int updates = 0;
            for (; !session.IsTooMuch; updates++)
            {
                session.BeginRead();
                session.AddRecordBytes(Record(UpdateOfKeys));
            }

            Assert.Equal((1024 * 1024 / UpdateOfKeys) + 1, updates);
        });

    /// <summary>A record that carries so much.</summary>
    private static byte[] Record(int carries)
    {
        var record = new byte[5 + carries + Seal];
        record[0] = 23;
        BinaryPrimitives.WriteUInt16BigEndian(record.AsSpan(3), (ushort)(carries + Seal));
        return record;
    }
}
