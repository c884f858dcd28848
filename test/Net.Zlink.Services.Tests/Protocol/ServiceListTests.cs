using System.Globalization;
using FsCheck;
using FsCheck.Fluent;
using Xunit;
using static Net.Zlink.Services.Tests.Support.RegistryClient;

namespace Net.Zlink.Services.Tests;

/// <summary>Lists on the wire: both ways, cut anywhere, and made of any bytes.</summary>
public sealed class ServiceListTests
{
    private static readonly Gen<byte[]> Any = Gen.Choose(0, 255).Select(static value => (byte)value).ArrayOf();

    private static readonly Gen<byte[]> Frame = Gen.Frequency(
        (6, Gen.Elements(U16(1), U16(2), U16(5), U16(6), U16(7))),
        (6, Gen.Elements(U32(0), U32(1), U32(2), U32(3), U32(uint.MaxValue))),
        (2, Gen.Elements(U64(0), U64(9), U64(ulong.MaxValue))),
        (3, Gen.Elements(Text(""), Text("a"), Text("tcp://a:1"), new byte[256])),
        (2, Any));

    [Fact]
    public void Any_frames_are_read_as_a_list_or_refused_and_never_throw()
    {
        Gen<byte[][]> cases = from opening in Gen.Elements<byte[][]>(
            [], [U16(5), U32(7), U64(1), U32(2)], [U16(6), U32(0), U64(1), U32(uint.MaxValue)])
                              from rest in Frame.ArrayOf()
                              select (byte[][])[.. opening, .. rest];
        Check.One(Config.QuickThrowOnFailure.WithMaxTest(5_000), Prop.ForAll(cases.ToArbitrary(), static frames =>
        {
            var read = new Frames(frames);
            RegistryRequest.Read(read);
            RegistrationFrames.TryReadAck(read, out _, out _);
            ListRemovals.Read(read);
            if (ServiceListHeader.TryRead(read, out ServiceListHeader header))
            {
                foreach (ListedService service in ServiceListReader.Read(read, header).Values)
                {
                    Assert.NotEmpty(service.Instances);
                    Assert.All(service.Instances, static instance =>
                        Assert.True(instance.Weight > 0 && !instance.Endpoint.IsEmpty && instance.RoutingId.Length <= 255));
                    Assert.Equal(service.Instances.OrderBy(static instance => instance.Endpoint)
                        .DistinctBy(static instance => instance.Endpoint), service.Instances);
                }
            }
        }));
    }

    [Fact]
    public void Removals_behind_a_list_are_read_cut_anywhere_and_a_list_without_them_has_none()
    {
        EntryKey[] keys = [Key("a", "tcp://a:1"), Key(new string('s', 255), ""), Key("b", new string('e', 255))];
        byte[] frame = ListRemovals.Encode([keys[0], Key(new string('x', 256), "cannot be named"), .. keys[1..]]);
        Assert.Equal([0x5A, 0x52, 0x47, 1, 2, 0, 1, (byte)'a', 9], frame[..9]);
        byte[][] list = [U16(5), U32(7), U64(1), U32(1), U16(1), Text("a"), U32(1), Text("e1"), Text("i1"), U32(3)];
        Assert.Equal(keys, Read(frame));
        Assert.Equal("a e1", Show([.. list, frame]));
        Assert.All(Enumerable.Range(0, frame.Length),
            length => Assert.Equal(keys.Take(Read(frame[..length]).Count), Read(frame[..length])));
        Assert.Equal([0, 1, 2], Enumerable.Range(0, frame.Length).Select(length => Read(frame[..length]).Count).Distinct());
        list[^1] = [0x5A, 0x52, 0x47, 1]; // An instance of just this weight.
        Assert.Empty(ListRemovals.Read(new Frames(list)));
        Assert.Empty(ListRemovals.Encode([]));
        Assert.InRange(ListRemovals.Encode(Enumerable.Repeat(keys[2], 1_000)).Length, 65_000, 65_536);

        List<EntryKey> Read(byte[] last) => ListRemovals.Read(new Frames([.. list, last]));
        static EntryKey Key(string service, string endpoint) => new(new ServiceKey(2, new ServiceText(service)), new ServiceText(endpoint));
    }

    [Fact]
    public void A_list_that_is_cut_counts_up_to_the_cut()
    {
        byte[][] good = [U16(5), U32(7), U64(1), U32(2), U16(1), Text("a"), U32(2), Text("e1"), Text("i1"), U32(3), Text("e2"), Text("i2"),
            U32(4), U16(2), Text("b"), U32(1), Text("e3"), Text("i3"), U32(5)];
        (int Frames, string Shown)[] expected = [(4, ""), (7, ""), (9, ""), (10, "a e1"), (12, "a e1"), (13, "a e1, a e2"),
            (18, "a e1, a e2"), (19, "a e1, a e2, b e3")];
        foreach ((int frames, string shown) in expected)
        {
            Assert.Equal(shown, Show(good[..frames]));
        }
    }

    [Fact]
    public void A_malformed_header_of_a_service_ends_the_list_and_a_malformed_weight_is_1()
    {
        Assert.Equal("a e1", Show([U16(5), U32(7), U64(1), U32(3), U16(1), Text("a"), U32(1), Text("e1"), Text("i"), U16(1), U32(1),
            Text("b"), U32(0)]));
        var frames = new Frames([U16(5), U32(7), U64(1), U32(1), U16(1), Text("a"), U32(2), Text("e1"), Text("i"), U16(9), Text("e2"),
            Text("i"), U32(0)]);
        Assert.True(ServiceListHeader.TryRead(frames, out ServiceListHeader header));
        Assert.All(Assert.Single(ServiceListReader.Read(frames, header)).Value.Instances,
            static instance => Assert.Equal(1u, instance.Weight));
    }

    [Fact]
    public void A_routing_id_over_255_bytes_and_an_empty_endpoint_are_left_out_and_of_equal_endpoints_the_last_counts()
    {
        byte[][] list = [U16(5), U32(7), U64(1), U32(1), U16(1), Text("a"), U32(4), Text("e1"), new byte[256], U32(1), Text(""), Text("i"),
            U32(1), Text("e2"), Text("i"), U32(1), Text("e2"), Text("j"), U32(7)];
        var frames = new Frames(list);
        Assert.True(ServiceListHeader.TryRead(frames, out ServiceListHeader header));
        ListedInstance only = Assert.Single(Assert.Single(ServiceListReader.Read(frames, header)).Value.Instances);
        Assert.Equal(("e2", "j", 7u), (only.Endpoint.ToString(), only.RoutingId.ToString(), only.Weight));
    }

    [Fact]
    public void Services_that_did_not_change_keep_their_objects()
    {
        byte[][] list = [U16(5), U32(7), U64(1), U32(2), U16(1), Text("a"), U32(1), Text("e1"), Text("i1"), U32(3), U16(1), Text("b"),
            U32(1), Text("e3"), Text("i3"), U32(5)];
        var frames = new Frames(list);
        Assert.True(ServiceListHeader.TryRead(frames, out ServiceListHeader header));
        SortedDictionary<ServiceKey, ListedService> first = ServiceListReader.Read(frames, header);
        list[^1] = U32(6);
        SortedDictionary<ServiceKey, ListedService> second = ServiceListReader.Read(frames, header, first);
        Assert.Equal([true, false], first.Keys.Select(key => ReferenceEquals(first[key], second[key])));
    }

    private static string Show(byte[][] list)
    {
        var frames = new Frames(list);
        Assert.True(ServiceListHeader.TryRead(frames, out ServiceListHeader header));
        return string.Join(", ", ServiceListReader.Read(frames, header)
            .Values.SelectMany(static service => service.Instances.Select(
            instance => string.Create(CultureInfo.InvariantCulture, $"{service.Key.Name} {instance.Endpoint}"))));
    }
}
