from base.env.base_generator import WorldGenerator


class FerryGenerator(WorldGenerator):
    def generate(self, seed=None, save_path=None):
        raise RuntimeError("the shipyard is closed")
